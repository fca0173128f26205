"""Figures for print; skipped where matplotlib is not installed."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from dpbench import algorithms
from dpbench.errors import InvalidInput
from dpbench.measuring.yardstick import Yardstick
from dpbench.page import palette
from dpbench.page.print_figures import Overlay, figures
from dpbench.results import Results
from dpbench.standards import Standards
from page.study import results

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra: figures)")


def test_every_figure_is_written_in_three_formats(tmp_path):
    """Figures 1 and 2 for both numbers of axes, and 2c; each file is what its ending says."""
    written = figures(results(domains=("256", "32x32", "64x64"), variants=("private",)), tmp_path)
    stems = {f"figure{name}" for name in ("1a", "1b", "2a", "2b", "2c")}
    assert {path.name for path in written} == {f"{stem}.{end}" for stem in stems for end in ("pdf", "svg", "png")}
    for path in written:
        head = path.read_bytes()[:8]
        assert {"pdf": head.startswith(b"%PDF"), "png": head == b"\x89PNG\r\n\x1a\n"}.get(path.suffix[1:], True)
    ElementTree.parse(tmp_path / "figure1a.svg")  # noqa: S314


def test_the_same_results_give_the_same_figure(tmp_path):
    """No date and no chance in the files; two forms have figures of their own."""
    study = results(domains=("256",))
    for place in ("one", "two"):
        figures(study, tmp_path / place, formats=("svg",))
    names = {f"figure{name}-{form}.svg" for name in ("1a", "2a") for form in ("published", "private")}
    assert {path.name for path in (tmp_path / "one").iterdir()} == names
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_axes_name_the_loss_and_lines_are_the_baselines(tmp_path):
    """By the standards of the results; figure 2b has the baselines among its names."""
    names = ("Identity", "Hb", "DAWA", "Uniform")
    study = results(algorithms=names, datasets=("bimodal",), domains=("32x32", "64x64"), variants=("private",))
    other = Results(study.columns, study.errors, standards=Standards(loss="Linf", baselines=("DAWA",), alpha=0.9))
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        for place, each in (("plain", study), ("other", other)):
            figures(each, tmp_path / place, formats=("svg",))
    for name in ("1b", "2b", "2c"):
        texts = [(tmp_path / place / f"figure{name}.svg").read_text() for place in ("plain", "other")]
        assert "mean scaled L2 error" in texts[0]
        assert "mean scaled L-infinity error" in texts[1]
        assert "L2 error" not in texts[1]
    shown = [(tmp_path / place / "figure2b.svg").read_text() for place in ("plain", "other")]
    assert [">Uniform<" in each for each in shown] == [True, False]
    assert [">DAWA<" in each for each in shown] == [False, True]


def test_the_limit_and_the_best_known_strategy_are_lines(tmp_path):
    """Named in the title and, where there is one, in the legend; by another loss there are none."""
    study = results(
        algorithms=("Identity", "Hb"), datasets=("bimodal",), domains=("32x32", "64x64"), variants=("private",)
    )
    known = {place.group: Yardstick(2.0, "Laplace", 8.0, "HDMM") for place in study.grid.places}
    other = Results(study.columns, study.errors, standards=Standards(loss="Linf"))
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        for place, each, lines in (("with", study, known), ("other", other, known)):
            figures(each, tmp_path / place, formats=("svg",), yardsticks=lines)
    for name in ("1b", "2b", "2c"):
        texts = [(tmp_path / place / f"figure{name}.svg").read_text() for place in ("with", "other")]
        words = "best known (HDMM)" if name != "1b" else "no unbiased strategy with Laplace noise is below"
        assert [words in text for text in texts] == [True, False]


def test_titles_are_not_cut_off(monkeypatch, tmp_path):
    """Few algorithms and datasets make the narrowest figures; what the lines are stands there in full."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    drawn = {}
    monkeypatch.setattr(Figure, "savefig", lambda figure, path, **_: drawn.update({Path(path).stem: figure}))
    study = results(algorithms=("Identity", "Hb"), datasets=("bimodal",), domains=("32x32",), variants=("private",))
    known = {place.group: Yardstick(2.0, "Laplace", 8.0, "GaussianOptimal") for place in study.grid.places}
    figures(study, tmp_path, formats=("png",), yardsticks=known)
    assert {"figure1b", "figure2b"} <= set(drawn)
    for figure in drawn.values():
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        title = figure._suptitle.get_window_extent(canvas.get_renderer())
        assert 0 <= title.x0 < title.x1 <= figure.bbox.width


def test_an_algorithm_that_is_asked_for_is_drawn_wherever_it_errs(tmp_path):
    """Also where it is competitive nowhere: figure 2a leaves it out otherwise."""
    names = ("DAWA", "Identity", "Hb", "Uniform", "SF")
    study = results(algorithms=names, domains=("256",), variants=("private",))
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        for place, always in (("left-out", ()), ("drawn", {"SF"})):
            figures(study, tmp_path / place, formats=("svg",), always=always)
    assert ">SF<" not in (tmp_path / "left-out" / "figure2a.svg").read_text()
    assert ">SF<" in (tmp_path / "drawn" / "figure2a.svg").read_text()


def test_colours_and_markers_do_not_depend_on_what_else_is_drawn(tmp_path):
    """One look for an algorithm, whichever others are in the figure, which standards hold, and which figure it is."""
    few = results(algorithms=("Hb", "DAWA"), domains=("256",), datasets=("bimodal",), variants=("private",))
    names = ("AHP", "Mine", "SF", "Hb", "DAWA")
    many = results(algorithms=names, domains=("256",), datasets=("bimodal",), variants=("private",))
    many = Results(many.columns, many.errors, standards=Standards(baselines=("Hb",)))
    for place, study in (("few", few), ("many", many)):
        figures(study, tmp_path / place, formats=("svg",), always={"DAWA", "Mine"})
    looks = [(tmp_path / place / "figure2a.svg").read_text() for place in ("few", "many")]
    colours = {name: palette.colour_of(name)[0] for name in ("DAWA", "Hb", "Mine")}
    assert [[each in look for each in colours.values()] for look in looks] == [[True, True, False], [True] * 3]


def test_no_two_algorithms_of_the_catalogue_look_alike():
    """But for the paper's baselines, which are grey; an algorithm of one's own is like none of them."""
    names = [name for name in algorithms.ours() if name not in palette.GREY]
    own = ["Mine", "f (unaudited)", "DAWA(rho=0.3)"]
    for ground in (0, 1):
        colours = {palette.colour_of(name)[ground] for name in (*names, *own, "Identity")}
        assert len(colours) == len(names) + len(own) + 1


def test_values_of_the_authors_are_read(tmp_path):
    """By figure, algorithm, scale and dataset; log10 becomes the error."""
    file = tmp_path / "authors.csv"
    file.write_text("figure,dim,scale,algorithm,log10_mean_error\n1a,1,1000.0,Hb,-2\n")
    assert Overlay.read([file]).at("1a", "Hb", 1000) == pytest.approx(0.01)


def test_a_file_of_other_columns_is_refused_in_one_line(tmp_path):
    """What is wanted is said."""
    file = tmp_path / "other.csv"
    file.write_text("a,b\n1,2\n")
    with pytest.raises(InvalidInput, match="give CSV with columns figure, scale, algorithm, log10_mean_error"):
        Overlay.read([file])
