import re

import pytest

from dpbench.cli import main


@pytest.fixture
def blocks(request):
    text = (request.config.rootpath / "README.md").read_text()
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


def test_the_twelve_lines_run(blocks, capsys):
    """The README's second example prints an error for every algorithm, and its ledger."""
    exec(compile(blocks[1], "README.md", "exec"), {})  # noqa: S102  (our own README)
    text = capsys.readouterr().out
    assert "GreedyH" in text
    assert "epsilon 1/10: spent 1/10" in text


def test_the_example_algorithm_passes_its_check(blocks, tmp_path, capsys):
    """The README's own algorithm is an algorithm and is private."""
    (tmp_path / "mine.py").write_text(blocks[0])
    assert main(["check", f"{tmp_path / 'mine.py'}:Mine"]) == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("Mine"))
    assert row.endswith("not refuted")


def test_paths_in_the_table_exist(request):
    """Every path that the README names is there."""
    root = request.config.rootpath
    paths = re.findall(r"`(src/[\w/.]+)`", (root / "README.md").read_text())
    assert len(paths) >= 9
    assert all((root / path).exists() for path in paths)
