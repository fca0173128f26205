from dpbench.progress import RunProgress, duration
from store.rows import make


def test_progress_without_a_terminal_is_plain_lines(capsys, monkeypatch):
    """A line now and then with counts, rate, what is left and when it ends; none when quiet."""
    monkeypatch.setattr("dpbench.progress.EVERY", 0.0)
    with RunProgress(3, quiet=False) as progress:
        progress(make())
        progress(make(failure="it broke"))
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" per second")[0].rsplit(",", 1)[0] for line in lines] == [
        "1/3 units",
        "2/3 units, 1 failed",
        "2/3 units, 1 failed",
    ]
    assert all("left, done at" in line and "\x1b" not in line for line in lines)
    with RunProgress(3, quiet=True) as progress:
        progress(make())
    with RunProgress(0, quiet=False):
        pass
    assert capsys.readouterr().err == ""


def test_times_are_readable():
    """Seconds, minutes, hours."""
    assert [duration(seconds) for seconds in (3.2, 89, 600, 7200)] == ["3 s", "89 s", "10 min", "2.0 h"]
