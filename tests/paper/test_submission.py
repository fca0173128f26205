"""Results that a stranger sends, and the board that they are merged into."""

from dataclasses import replace

import pytest

from dpbench.cli import main
from dpbench.errors import InvalidStore
from dpbench.paper import Study
from dpbench.paper.submission import leaderboard, submit

AUDIT = {"passed": True, "tried": "240 cases"}


@pytest.fixture(scope="module")
def study():
    return Study.shipped().private.results.where(dimensions=1, domain="256", algorithm=["Hb", "DAWA", "Identity"])


def renamed(results, name):
    """The results under another name."""
    named = results.columns["algorithm"].copy()
    named[:] = name
    return replace(results, columns={**results.columns, "algorithm": named})


@pytest.fixture
def sent(study, tmp_path):
    """Identity under another name with half of its error."""
    path = tmp_path / "mine.parquet"
    results = renamed(study.where(algorithm="Identity"), "Mine")
    submit(replace(results, errors=results.errors / 2), path, audit=AUDIT, machine={"cpu": "any"})
    return path


def test_a_submission_stands_on_the_board(study, sent):
    """With its regret, audit and version; the others' regret is against it too."""
    board = {each.algorithm: each for each in leaderboard(study, [sent])}
    assert (board["Mine"].audit, board["Hb"].audit) == ("not refuted", "")
    assert len(board["Mine"].version) == 8
    assert board["Mine"].regret == pytest.approx(board["Identity"].regret / 2)
    assert [each.regret for each in leaderboard(study, [sent])] == sorted(each.regret for each in board.values())


def test_a_changed_file_is_refused(study, sent):
    """An error made smaller after the fact shows in the digest."""
    from dpbench.results import Results

    found = Results.read(sent)
    replace(found, errors=found.errors * 0.9).write(sent)
    with pytest.raises(InvalidStore, match="not what was written"):
        leaderboard(study, [sent])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda results: results.where(scale=1000).take([0]), "lacks"),
        (lambda results: replace(results, errors=results.errors[:, :2]), "2 x 10 data vectors"),
    ],
)
def test_settings_that_are_not_the_studys_are_refused(study, tmp_path, change, said):
    """Other data, or fewer trials."""
    results = change(renamed(study.where(algorithm="Identity"), "Mine"))
    if said == "lacks":
        results = replace(results, columns={**results.columns, "scale": results.columns["scale"] + 1})
    submit(results, tmp_path / "mine.parquet", audit=AUDIT, machine={})
    with pytest.raises(InvalidStore, match=said):
        leaderboard(study, [tmp_path / "mine.parquet"])


def test_a_summary_that_is_no_submission_is_refused(study, tmp_path):
    """And a name that is taken."""
    study.where(algorithm="Hb").write(tmp_path / "plain.parquet")
    with pytest.raises(InvalidStore, match="no submission"):
        leaderboard(study, [tmp_path / "plain.parquet"])
    submit(study.where(algorithm="Hb"), tmp_path / "hb.parquet", audit=AUDIT, machine={})
    with pytest.raises(InvalidStore, match="on the board already"):
        leaderboard(study, [tmp_path / "hb.parquet"])


def test_the_command_prints_the_board(sent, capsys):
    """One table per number of axes; an algorithm that lacks settings comes last."""
    assert main(["leaderboard", str(sent), "--dimensions", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "1-D, end-to-end private"
    assert any(line.startswith("Mine ") for line in lines)
