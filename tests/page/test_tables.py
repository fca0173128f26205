"""Tables for papers."""

import csv
import io
import shutil
import subprocess

import pytest

from dpbench.interpreting import error_cells
from dpbench.page import show, tables
from dpbench.results import Results
from page.study import HOSTILE, results
from store.rows import make


def test_errors_of_the_csv_are_those_of_the_library():
    """Mean and deviation of every algorithm and scale."""
    study = results(domains=("256",), variants=("private",))
    told = {
        (row["row"], float(row["column"])): (float(row["value"]), float(row["deviation"]))
        for row in csv.DictReader(io.StringIO(tables(study).csv()))
        if row["table"] == "errors"
    }
    assert told == {(each.algorithm, each.scale): (each.mean, each.deviation) for each in error_cells(study)}


def test_competitive_errors_are_bold():
    """The better of two algorithms that differ for certain is bold in every format, the other is not."""
    study = Results._from_rows([make(l2=[0.10, 0.11, 0.12]), make(algorithm="Hb", l2=[0.50, 0.51, 0.52])])
    (table,) = [each for each in tables(study).tables if each.name == "datasets"]
    assert table.columns == ("Hb", "Identity")
    assert r"$(5.10 \pm 0.10) \cdot 10^{-1}$ & \boldmath$(1.10 \pm 0.10) \cdot 10^{-1}$ \\" in table.latex()
    assert "| 5.10e-01 (1.0e-02) | **1.10e-01 (1.0e-02)** |" in table.markdown()
    assert "<td>5.10e-01 (1.0e-02)</td><td><b>1.10e-01 (1.0e-02)</b></td>" in table._repr_html_()


def test_latex_uses_booktabs_and_balances():
    """Rules of booktabs, every environment closed, scales as powers of ten."""
    text = tables(results(domains=("256",))).latex()
    for name in ("table", "tabular"):
        assert text.count(rf"\begin{{{name}}}") == text.count(rf"\end{{{name}}}") > 0
    assert text.count(r"\toprule") == text.count(r"\bottomrule")
    assert "$10^{3}$ & $10^{5}$" in text


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX on this machine")
def test_latex_compiles_whatever_the_names_are(tmp_path):
    """More tables than LaTeX holds back at once, names that it would take for options or commands; all fit the page."""
    names = (HOSTILE, "[1ex]", "*", r"\end{document}", "50% of a_b^c~{}", "two\n\nlines", "MWEM*")
    made = tables(results(algorithms=names, datasets=names, domains=("128", "256", "512")))
    assert len(made.tables) > 24
    (tmp_path / "all.tex").write_text(
        r"\documentclass{article}\usepackage{booktabs,graphicx}\begin{document}" + made.latex() + r"\end{document}"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout


@pytest.mark.parametrize("render", ["latex", "markdown", "_repr_html_"])
def test_hostile_names_stay_text(render):
    """A name with markup is escaped in every format."""
    text = getattr(tables(results(domains=("256",))), render)()
    assert HOSTILE not in text


def test_files_are_written_in_three_formats(tmp_path):
    """One file per kind of table and format."""
    written = tables(results(domains=("256",)), tmp_path).files
    kinds = ("errors", "competitive", "risk", "baselines", "regret", "datasets")
    assert {path.name for path in written} == {f"table-{kind}.{end}" for kind in kinds for end in ("tex", "md", "csv")}
    assert all(path.read_text() for path in written)


def test_results_show_themselves_in_a_notebook():
    """HTML with what the results are and their tables."""
    text = show(results(domains=("256",)))._repr_html_()
    assert "3 datasets, 1 domain, 2 scales" in text
    assert text.count("<table>") == 6
