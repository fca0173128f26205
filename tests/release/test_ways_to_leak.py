"""Ways in which a release could leak, or its bookkeeping break, each tried; what they found is mended."""

import os
import tomllib
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpbench as dpb
from dpbench.cli import main
from dpbench.errors import ReleaseRefused
from dpbench.privacy.exact_channel import Exact, NoDraws
from dpbench.privacy.mechanisms import Gaussian, Laplace
from dpbench.privacy.mechanisms.mechanism import lattice_of
from dpbench.releasable import RELEASED
from dpbench.release import check, publish
from release.office import counts_of, office


def charges(path):
    return tomllib.loads(path.read_text()).get("charge", [])


def refused(spec, capsys, words):
    """One line, exit code 1."""
    assert main(["release", str(spec)]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert words in said.err


# --- the budget file ---------------------------------------------------------------------------------


def test_a_link_to_a_budget_file_is_charged_behind_it(tmp_path, capsys):
    """Written over, the link would be a copy with a budget of its own, and two releases would cost one."""
    spec = office(tmp_path)
    budget, real = tmp_path / "people.budget.toml", tmp_path / "owner" / "real.toml"
    real.parent.mkdir()
    budget.rename(real)
    budget.symlink_to(real)
    assert main(["release", str(spec)]) == 0
    assert budget.is_symlink()
    assert len(charges(real)) == 1
    spec.write_text(spec.read_text().replace("people.budget.toml", "owner/real.toml"))
    assert main(["release", str(spec)]) == 0
    assert len(charges(real)) == 2
    capsys.readouterr()
    refused(spec, capsys, "epsilon 0 left")


@pytest.mark.skipif(not hasattr(os, "link"), reason="needs hard links")
def test_a_budget_file_with_two_names_is_refused(tmp_path, capsys):
    """A charge replaces the file under one name; under the other nothing would have been spent."""
    spec = office(tmp_path)
    os.link(tmp_path / "people.budget.toml", tmp_path / "second.toml")
    refused(spec, capsys, "remove the hard links")
    assert not charges(tmp_path / "second.toml")


def test_permissions_of_a_budget_file_stay(tmp_path):
    """A file that a group may write is not closed to it by a charge."""
    spec = office(tmp_path)
    (tmp_path / "people.budget.toml").chmod(0o660)
    publish(spec)
    assert (tmp_path / "people.budget.toml").stat().st_mode & 0o777 == 0o660


@pytest.mark.parametrize("written", ["charge = []", 'charge = [{id = "a", epsilon = "1/9"}]'])
def test_charges_that_no_table_can_be_appended_to_are_refused(written, tmp_path, capsys):
    """Valid TOML, and not valid with a table after it: the file would be damaged by its own charge."""
    spec = office(tmp_path)
    text = f'dataset = "people"\nepsilon = "1"\n{written}\n'
    (tmp_path / "people.budget.toml").write_text(text)
    refused(spec, capsys, "write its charges as [[charge]] tables")
    assert (tmp_path / "people.budget.toml").read_text() == text


@pytest.mark.parametrize("name", ["spec.toml", "people.budget.toml"])
def test_brackets_too_deep_are_one_line(name, tmp_path, capsys):
    """A parser that runs out of stack is no reason for a trace."""
    spec = office(tmp_path)
    (tmp_path / name).write_text("a = " + "[" * 5000)
    refused(spec, capsys, "not valid TOML")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize("name", ["people.csv", "people.budget.toml"])
def test_a_pipe_in_place_of_a_file_does_not_wait(name, tmp_path, capsys):
    """Nobody writes into it, so reading would never end."""
    spec = office(tmp_path)
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    refused(spec, capsys, name)


# --- before the charge -------------------------------------------------------------------------------


def test_slips_that_need_no_table_cost_no_charge(tmp_path):
    """A frame of no known kind, a file of no known format, a cluster that is not there, one without files to count."""
    spec = office(tmp_path)
    (tmp_path / "people.xlsx").write_text("")
    table = pa.table({"age": [1.0]})
    for given, words in [([1, 2], "cannot read a table from list"), (tmp_path / "people.xlsx", "format")]:
        with pytest.raises(ReleaseRefused, match=words):
            publish(spec, given)
    with pytest.raises(ReleaseRefused, match="leave --dask out"):
        publish(spec, table, dask="tcp://127.0.0.1:9")
    with pytest.raises(dpb.errors.InvalidTable, match="no dask cluster answers at 'nowhere'"):
        publish(spec, dask="nowhere")
    assert not charges(tmp_path / "people.budget.toml")


def test_a_reader_that_was_checked_is_not_empty_afterwards(tmp_path):
    """A check looks at a reader's schema, and takes none of its rows."""
    spec = office(tmp_path, budget="50", epsilon="50")
    reader = pa.table({"age": [1.0, 1, 9]}).to_reader()
    check(spec, reader)
    assert counts_of(publish(spec, reader).folder)[:3].tolist() == [2, 0, 1]


# --- rows --------------------------------------------------------------------------------------------


def test_a_line_of_another_length_that_is_no_text_is_passed_over(tmp_path, capfd):
    """Arrow decodes such a line to ask about it, and would print its bytes; the release would fail because of it."""
    spec = office(tmp_path, budget="100", epsilon="50")
    (tmp_path / "people.csv").write_bytes(b"age,income\n1,2\n\xff\xfe,3,4\n9,\xe9\n5\n9,1\n")
    assert main(["release", str(spec)]) == 0
    said = capfd.readouterr()
    assert said.err == ""
    assert counts_of(tmp_path / "out")[:3].tolist() == [1, 0, 2]


def test_text_that_is_not_ascii_is_read_as_utf_8(tmp_path):
    """Names and categories, with the mark that some programs write first."""
    (tmp_path / "t.csv").write_bytes("\ufeffOrt,Größe\nZürich,3\nBern,4\n".encode() + b"Z\xfcrich,3\n")
    axes = [dpb.tables.Categories("Ort", ["Zürich", "Bern"], outside="cell"), dpb.tables.Numbers("Größe", 0, 8, bins=2)]
    assert dpb.tables.histogram(tmp_path / "t.csv", axes).counts.tolist() == [[1, 0], [0, 1], [1, 0]]


class Insisting(Exact):
    """Draws, and recomputes in fractions what a record can move the answers by, weighted as the noise is."""

    def __init__(self, counts):
        super().__init__()
        self.counts, self.checked = counts, 0

    def drawn(self, mechanism, material, loss):
        if isinstance(mechanism, Laplace):
            statistic = mechanism.statistic
            if statistic is None:  # the counts, or those of a region
                self.check(mechanism, material, lambda counts: counts)
            elif np.array_equal(statistic.of(self.counts), material):
                self.check(mechanism, self.counts, statistic.of)
        return super().drawn(mechanism, material, loss)

    def check(self, mechanism, counts, shown):
        self.checked += 1
        strategy = mechanism.strategy
        weighted = lattice_of(strategy) != 1
        units = np.broadcast_to(np.asarray(strategy.units if weighted else 1.0, dtype=float), mechanism.shape).ravel()
        squared = isinstance(mechanism, Gaussian)
        claim = mechanism.squared_claim if squared else mechanism.claim
        before = np.asarray(mechanism.exact_truth(shown(counts))).ravel()
        for cell in np.ndindex(counts.shape):
            more = counts.copy()
            more[cell] += 1
            moved = np.abs(np.asarray(mechanism.exact_truth(shown(more))).ravel() - before)
            places = np.flatnonzero(moved)
            sizes = [Fraction(float(units[place])) * int(moved[place]) for place in places]
            assert sum(size**2 if squared else size for size in sizes) <= claim


@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": Fraction(1, 9)}], ids=["pure", "zCDP"])
@pytest.mark.parametrize("name", RELEASED)
def test_weights_that_do_not_add_up_in_floats_are_claimed_in_full(name, budget):
    """Units are floats and noise is exact: what a record moves, in fractions, is within the claim for every cell."""
    algorithm = dpb.algorithms.get(name)
    if "rho" in budget and "zCDP" not in algorithm.notions:
        pytest.skip(f"{name} has pure differential privacy alone")
    for axes in ("12", "5x3"):
        if algorithm.supports(axes):
            domain = dpb.Domain.of(axes)
            workload = dpb.workloads.RandomRange(domain, queries=20, seed=0)
            counts = np.arange(domain.size).reshape(domain.shape) % 4
            channel = Insisting(counts)
            algorithm._outcome(counts, workload, noise=NoDraws(), channel=channel, **budget)
            assert channel.checked


def test_an_interrupted_release_keeps_its_charge_and_says_so(tmp_path, monkeypatch, capsys):
    """Ctrl-C while rows are read: the charge stays, which is said; nothing is left that looks like an output."""
    import dpbench.release.publishing as publishing

    def interrupts(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(publishing, "histogram", interrupts)
    spec = office(tmp_path)
    assert main(["release", str(spec)]) == 130
    said = "dpbench: the release was interrupted after its charge, which stays\ndpbench: interrupted\n"
    assert capsys.readouterr().err == said
    assert len(charges(tmp_path / "people.budget.toml")) == 1
    assert not [each for each in tmp_path.iterdir() if each.is_dir()]


def test_the_last_record_that_a_cell_can_hold_changes_nothing_that_shows(tmp_path):
    """Counts beyond what sums stay exact for are capped, and neither refused nor wrapped round."""
    spec = office(tmp_path, budget="9", epsilon="1")
    spec.write_text(spec.read_text().replace('table = "people.csv"', 'counts = "counted.parquet"'))
    for count in (2**62, 2**63 - 1):
        pq.write_table(pa.table({"age_cell": [0, 0, 5], "count": [count, count, -3]}), tmp_path / "counted.parquet")
        found = counts_of(publish(spec).folder)
        assert abs(int(found[0]) - 2**52 // 16) < 1000
        assert (found >= 0).all()
