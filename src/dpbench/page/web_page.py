"""One self-contained HTML file: no request to any network, and a policy that lets nothing in."""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

from dpbench.errors import InvalidInput, shown
from dpbench.given import as_path, of_kind
from dpbench.measuring.yardstick import Yardstick
from dpbench.page.cards import Gallery
from dpbench.page.data import page_data
from dpbench.results import Results
from dpbench.store.disk import write_whole
from dpbench.store.files import refusal
from dpbench.store.setting_key import Group

SCRIPTS = (
    *("data.js", "words.js", "standings.js", "drawing.js", "charts.js", "lines.js", "figure.js", "errors.js"),
    *(
        "comparisons.js",
        "answer.js",
        "leaderboard.js",
        "recommend.js",
        "intervals.js",
        "explorer.js",
        "cards.js",
        "main.js",
    ),
)
"""In the order in which they stand in the page."""
NAME = "index.html"


def page(
    results: Results,
    out: str | PathLike[str],
    *,
    gallery: Gallery | None = None,
    title: str = "DPBench",
    comparison: Mapping[str, Any] | None = None,
    yardsticks: Mapping[Group, Yardstick] | None = None,
) -> Path:
    """Write the page into a folder, which is made if need be; the path of the page.

    It opens on the loss, the percentile, the baselines and the test of the results' standards. ``comparison`` has what
    :func:`dpbench.page.comparison.for_page` makes of a newcomer's comparison with its rivals, ``yardsticks`` what
    :func:`dpbench.yardsticks.yardsticks` makes of the results: the limit and the best known strategy.
    """
    if not len(Results.insist(results)):
        raise InvalidInput("there are no results to show; run something first, for example `dpbench run demo`")
    of_kind(title, str, "the title", "'DPBench'")
    of_kind(Gallery() if gallery is None else gallery, Gallery, "the gallery", "None")
    of_kind({} if yardsticks is None else yardsticks, Mapping, "what holds the yardsticks", "None")
    _check_comparison(comparison)
    path = as_path(out, "the folder of the page") / NAME
    with refusal(path, "a folder that can be written to"):
        path.parent.mkdir(parents=True, exist_ok=True)
        text = page_text(results, gallery or Gallery(), title, comparison, yardsticks)
        write_whole(path, text.encode("utf-8", "replace"))  # "?" for half a pair, which cannot be written
    return path


def _check_comparison(comparison: object) -> None:
    """Refuse what is no mapping, or what a page cannot hold."""
    try:
        plain = comparison is None or bool(isinstance(comparison, Mapping) and json.dumps(comparison, allow_nan=False))
    except Exception:  # whatever code stands behind the values
        plain = False
    if not plain:
        raise InvalidInput(f"the comparison is {shown(comparison)}; give what dpbench.page.comparison.for_page makes")


def page_text(
    results: Results,
    gallery: Gallery,
    title: str,
    comparison: Mapping[str, Any] | None = None,
    yardsticks: Mapping[Group, Yardstick] | None = None,
) -> str:
    """The page as text."""
    style = _file("page.css")
    script = '"use strict";\n(() => {\n' + "\n".join(_file(name) for name in SCRIPTS) + "\n})();\n"
    parts = {
        "POLICY": policy(script, style),
        "TITLE": html.escape(title),
        "STYLE": style,
        "SCRIPT": script,
        "DATA": embedded(page_data(results, gallery, title, comparison, yardsticks)),
    }
    return re.sub(r"{{([A-Z]+)}}", lambda mark: parts[mark[1]], _file("page.html"))  # once: parts may hold such marks


def policy(script: str, style: str) -> str:
    """A content security policy that runs this one script and loads nothing."""
    rules = {
        "default-src": "'none'",
        "script-src": f"'sha256-{_digest(script)}'",
        "style-src": f"'sha256-{_digest(style)}'",
        "img-src": "data: blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def embedded(data: object) -> str:
    """JSON that cannot end the element it stands in."""
    plain = json.dumps(data, allow_nan=False, separators=(",", ":"), ensure_ascii=True)
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


def _file(name: str) -> str:
    return resources.files(__package__).joinpath("browser", name).read_text(encoding="utf-8")
