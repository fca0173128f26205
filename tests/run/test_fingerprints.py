"""What built-in code answers moves only with its revision."""

import json

import pytest
from benchmarks import fingerprints

from dpbench.algorithms.hb import Hb

PARTS = fingerprints.everything()
KEPT = json.loads(fingerprints.FILE.read_text())["parts"]


@pytest.mark.parametrize("name", sorted(KEPT))
def test_a_part_answers_as_its_fingerprint_says(name):
    """Algorithms, workloads, losses, shapes and the generator; ``python -m benchmarks.fingerprints`` says the same."""
    revision, make = PARTS[name]
    assert fingerprints.verdict(name, revision, KEPT[name], make()) == ""


def test_a_moved_answer_asks_for_a_revision_and_gives_the_command(monkeypatch):
    """Hb with a millionth more noise, then with its revision raised."""
    name, solve = "algorithm Hb", Hb.estimate
    monkeypatch.setattr(Hb, "estimate", lambda self, data, workload: solve(self, data, workload) * (1 + 1e-6))
    moved = fingerprints.of_algorithm("Hb")
    told = fingerprints.verdict(name, 1, KEPT[name], moved)
    assert told.startswith(f"{name} answers differently in {len(moved)} of {len(moved)} cases (")
    assert "raise its revision from 1 to 2 and run: python -m benchmarks.fingerprints --write" in told
    raised = fingerprints.verdict(name, 2, KEPT[name], moved)
    assert raised == f"{name} is revision 2 and its fingerprint is of 1: python -m benchmarks.fingerprints --write"


def test_the_file_is_written_for_raised_revisions_only(tmp_path, monkeypatch, capsys):
    """A part that moved at the same revision is refused, and the file stays."""
    file = tmp_path / "fingerprints.json"
    answers = {"a": {"case": [1.0, 1.0, 0.0]}, "b": {"case": [2.0, 1.0, 0.0]}}
    revision = {"a": 1, "b": 1}
    monkeypatch.setattr(
        fingerprints, "everything", lambda: {name: (revision[name], lambda name=name: answers[name]) for name in "ab"}
    )
    assert fingerprints.main([], file) == 1
    assert fingerprints.main(["--write"], file) == 0
    assert fingerprints.main([], file) == 0
    before = file.read_bytes()
    answers["a"] = {"case": [1.5, 1.0, 0.0]}
    capsys.readouterr()
    assert fingerprints.main(["--write"], file) == 1
    assert "a answers differently in 1 of 1 cases (case)" in capsys.readouterr().out
    assert file.read_bytes() == before
    revision["a"] = 2
    assert fingerprints.main([], file) == 1
    assert fingerprints.main(["--write"], file) == 0
    assert fingerprints.main([], file) == 0


def test_rounding_by_another_processor_is_no_move():
    """The last digits may differ; a billionth of all sizes more may not."""
    kept = {"case": [1000.0, 3.0, -7.0]}
    assert fingerprints.moved(kept, {"case": [1000.0 * (1 + 1e-12), 3.0 + 1e-9, -7.0]}) == []
    assert fingerprints.moved(kept, {"case": [1000.0, 3.0 + 1e-4, -7.0]}) == ["case"]
    assert fingerprints.moved(kept, {}) == ["case"]
