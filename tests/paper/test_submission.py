"""Results that a stranger sends, and the board that they are merged into."""

from dataclasses import replace

import pytest

from dpbench.cli import main
from dpbench.errors import InvalidStore
from dpbench.paper import Study
from dpbench.paper.submission import KEY, _digest, leaderboard, submit
from dpbench.results import Results

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
    assert (board["Mine"].audit, board["Hb"].audit) == ("nothing found", "")
    assert board["Mine"].version == "Identity-r1"
    assert board["Mine"].regret == pytest.approx(board["Identity"].regret / 2)
    assert [each.regret for each in leaderboard(study, [sent])] == sorted(each.regret for each in board.values())


def test_a_changed_file_is_refused(study, sent):
    """An error made smaller after the fact shows in the digest."""
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


def doctored(path, change):
    """The file with its results changed, and a digest that fits what it has become."""
    found = Results.read(path)
    facts = {name: each for name, each in found.metadata[KEY].items() if name != "digest"}
    changed, facts = change(found, facts)
    changed.described(**{KEY: facts | {"digest": _digest(changed, facts)}}).write(path, losses=False)


def with_column(results, name, value):
    column = results.columns[name].copy()
    column[:] = value
    return replace(results, columns={**results.columns, name: column})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda found, facts: (found, facts | {"version": "0" * 16}), "another version"),
        (lambda found, facts: (with_column(found, "variant", "published"), facts), "not private end to end"),
        (lambda found, facts: (with_column(found, "side_information", "public"), facts), "not private end to end"),
        (lambda found, facts: (found.take([0, 0, 1]), facts), "a setting twice"),
        (lambda found, facts: (replace(found, errors=-found.errors), facts), "no errors"),
        (lambda found, facts: (replace(found, errors=found.errors * 0), facts), "the same error in every trial"),
        (lambda found, facts: (with_column(found, "seed", 7), facts), "lacks"),
        (lambda found, facts: (with_column(found, "failed", 1), facts), "failed settings"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(study, sent, change, said):
    """Even where whoever changed it has made the digest anew."""
    doctored(sent, change)
    with pytest.raises(InvalidStore, match=said):
        leaderboard(study, [sent])


@pytest.mark.parametrize("facts", ["a text", 3, [1], {"digest": 5}, {"algorithm": "Mine"}])
def test_facts_of_any_kind_are_refused_in_one_line(study, sent, facts):
    """Whatever stands where the facts are looked for."""
    Results.read(sent).described(**{KEY: facts}).write(sent, losses=False)
    with pytest.raises(InvalidStore, match="no submission|not what was written"):
        leaderboard(study, [sent])


def test_a_file_with_another_header_is_refused(study, sent):
    """A Parquet file whose header says that it is a summary, and nothing else that one says."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    header = {"dpbench_summary": "4", "shape": "no", "metadata": "{", "standards": "[]"}
    pq.write_table(pa.table({"errors": [1.0]}).replace_schema_metadata(header), sent)
    with pytest.raises(InvalidStore, match="no submission"):
        leaderboard(study, [sent])


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
