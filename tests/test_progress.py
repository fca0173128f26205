import datetime
import re

from dpbench.progress import RunProgress, clock, duration
from store.rows import make


class Known:
    """An estimate that is known from the second unit on."""

    def __init__(self, left):
        self.left, self.done = left, 0

    def start(self, now):
        self.begun = now

    def add(self, row, now):
        self.done += 1

    def seconds(self, now):
        return self.left if self.done > 1 else None


def test_progress_without_a_terminal_is_plain_lines(capsys, monkeypatch):
    """A line now and then with counts, rate, and what is left once that is known; none when quiet."""
    monkeypatch.setattr("dpbench.progress.EVERY", 0.0)
    with RunProgress(3, quiet=False, estimate=Known(600.0)) as progress:
        progress(make())
        progress(make(failure="it broke"))
        progress(make())
    lines = [re.sub("[0-9.]+ units/s", "N units/s", line) for line in capsys.readouterr().err.splitlines()]
    assert [re.sub("[0-9]+:[0-9]+", "HH:MM", line) for line in lines] == [
        "1/3 units, N units/s",
        "2/3 units, N units/s, 1 failed, about 10 min left, done at HH:MM",
        *["3/3 units, N units/s, 1 failed"] * 2,
    ]
    with RunProgress(3, quiet=True, estimate=Known(1.0)) as progress:
        progress(make())
    with RunProgress(2, quiet=False) as progress:
        progress(make())
    assert " left" not in capsys.readouterr().err


def test_the_end_has_a_date_where_it_is_not_today(monkeypatch):
    """An hour before midnight, by the clock of the machine."""
    late = datetime.datetime(2026, 2, 28, 23, 0).astimezone().timestamp()
    monkeypatch.setattr("dpbench.progress.time.time", lambda: late)
    assert [clock(left) for left in (60, 3599, 3600, 86400)] == [
        "23:01",
        "23:59",
        "2026-03-01 00:00",
        "2026-03-01 23:00",
    ]


def test_times_are_readable():
    """Seconds, minutes, hours."""
    assert [duration(seconds) for seconds in (3.2, 89, 600, 7200)] == ["3 s", "89 s", "10 min", "2.0 h"]
