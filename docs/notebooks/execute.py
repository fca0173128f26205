"""Execute the notebooks beside this file and keep what they show: ``python docs/notebooks/execute.py``.

A notebook is JSON, and these use Python alone, so no Jupyter is needed. The tests execute them in the same way.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def executed(notebook: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The notebook with the output of every code cell, executed in order with ``folder`` as working directory."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells, count = [], 0
    before = Path.cwd()
    os.chdir(folder)
    try:
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                count += 1
                outputs = _outputs("".join(cell["source"]), names, count)
                cells.append({**cell, "execution_count": count, "outputs": outputs})
            else:
                cells.append(cell)
    finally:
        os.chdir(before)
    return {**notebook, "cells": cells}


def _outputs(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """What a cell prints, and the value of its last line if that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    value = None
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(tree, f"cell {count}", "exec"), names)  # noqa: S102  (our own documentation)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"cell {count}", "eval"), names)  # noqa: S307
    shown: list[dict[str, Any]] = []
    if out.getvalue():
        shown.append({"name": "stdout", "output_type": "stream", "text": out.getvalue().splitlines(keepends=True)})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_"):
            data = {"text/plain": [type(value).__name__], "text/html": value._repr_html_().splitlines(keepends=True)}
        shown.append({"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return shown


def main() -> None:
    """Write every notebook again, with today's outputs."""
    for path in sorted(HERE.glob("*.ipynb")):
        with tempfile.TemporaryDirectory() as folder:
            notebook = executed(json.loads(path.read_text(encoding="utf-8")), Path(folder))
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        sys.stdout.write(f"{path.name}\n")


if __name__ == "__main__":
    main()
