"""``dpbench strategies``."""

import json

import pytest

from dpbench import algorithms, limit
from dpbench.cli import main
from dpbench.workloads import Prefix, Ranges


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("DPBENCH_CACHE", str(tmp_path / "cache"))


def told(capsys, *arguments):
    assert main(["strategies", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_it_lists_errors_and_their_distance_from_the_limit(capsys):
    """The best first, the limit last, and what it bounds."""
    assert main(["strategies", "--domain", "256", "--workload", "Prefix", "--epsilon", "1"]) == 0
    title, head, first, *_ = lines = capsys.readouterr().out.splitlines()
    assert title.startswith("Prefix(256), epsilon 1, Laplace noise: expected squared error per query")
    assert head.split() == ["algorithm", "squared", "error", "root", "over", "limit"]
    assert first.split() == ["HDMM", "53.635", "7.324", "4.39"]
    assert "limit            12.2161  3.495        1.00" in lines
    assert lines[-1].startswith("limit: no unbiased strategy with Laplace noise has a smaller expected squared error")


def test_machines_get_the_same(capsys):
    """Under every notion; without a budget it is epsilon 1, without a workload that of the study."""
    plain = told(capsys, "--domain", "256")
    assert (plain["workload"], plain["budget"], plain["noise"]) == ("Prefix(256)", "epsilon 1", "Laplace")
    assert plain["limit"]["error"] == pytest.approx(float(limit(Prefix(256), 1)))
    by_name = {row["algorithm"]: row for row in plain["strategies"]}
    assert plain["best"] == plain["strategies"][0]["algorithm"] == "HDMM"
    assert by_name["Hb"]["error"] == pytest.approx(algorithms.get("Hb").expected_error(Prefix(256), 1))
    noisy = told(capsys, "--domain", "256", "--epsilon", "0.5", "--delta", "1e-6")
    assert (noisy["budget"], noisy["noise"], noisy["best"]) == (
        "epsilon 0.5 and delta 1e-06",
        "Gaussian",
        "GaussianOptimal",
    )
    assert told(capsys, "--domain", "8x8", "--rho", "0.1")["workload"].startswith("RandomRange(8x8")
    assert told(capsys, "--domain", "9", "--workload", "RandomRange(queries=4, seed=1)")["queries"] == 4


def test_a_list_of_ones_own_with_weights(capsys, tmp_path):
    """Weights count by their squares."""
    file = tmp_path / "boxes.csv"
    file.write_text("lower0,upper0,weight\n0,5,1\n2,9,3\n0,5,1\n")
    plain = told(capsys, "--domain", "10", "--workload", str(file))
    workload = Ranges(10, [0, 2, 0], [5, 9, 5], [1, 3, 1])
    assert plain["limit"]["error"] == pytest.approx(float(limit(workload, 1)))
    for row in plain["strategies"]:
        assert row["error"] == pytest.approx(algorithms.get(row["algorithm"]).expected_error(workload, 1))


def test_what_is_not_known_or_not_searched_for_is_said(capsys):
    """HDMM's tents on a long axis, GreedyH without a list."""
    assert main(["strategies", "--domain", "700"]) == 0
    shown = capsys.readouterr().out
    assert "* HDMM: before its search, which lowers this by a tenth or more" in shown
    assert main(["strategies", "--domain", "40000"]) == 0
    assert "HDMM: HDMM fits axes of up to 32,768 cells; 40000 has one of 40,000; use HbW" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--domain", "0"], "domain"),
        (["--domain", "16", "--workload", "Prefixes"], "no workload named 'Prefixes'; did you mean Prefix"),
        (["--domain", "4x4", "--workload", "Prefix"], "Prefix"),
        (["--domain", "16", "--workload", "none.csv"], "cannot read the ranges in none.csv"),
        (["--domain", "16", "--workload", "zero.csv"], "has weight 0"),
        (["--domain", "16", "--epsilon", "0"], "epsilon"),
        (["--domain", "16", "--delta", "2"], "delta"),
        (["--domain", "16", "--rho", "1", "--delta", "1e-6"], "rho was given together with epsilon or delta"),
        (["--domain", "16", "--workload", "Prefix(3)"], "cannot be read; write a name"),
    ],
    ids=str,
)
def test_bad_input_is_refused_in_one_line(arguments, words, capsys, tmp_path, monkeypatch):
    """Exit code 2."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "zero.csv").write_text("lower0,upper0,weight\n0,5,0\n")
    assert main(["strategies", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line
