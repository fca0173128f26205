from dpbench.store.schema import arrow_schema, each_trial_once, from_table, to_table
from store.rows import make


def test_rows_survive_the_way_through_arrow():
    """A row comes back from a table as it went in, every bit of its errors."""
    rows = [make(l2=[0.1 + 0.2, 5e-324, 1.7976931348623157e308]), make(sample=1, failure="it broke", algorithm="Ä☃")]
    assert from_table(to_table(rows)) == rows


def test_a_table_without_rows_has_all_columns():
    """An empty store has the columns of a full one."""
    assert to_table([]).schema.names == arrow_schema().names
    assert from_table(to_table([])) == []


def test_a_result_counts_before_a_failure():
    """A unit that failed and was run again is the one that came through, whichever was stored first."""
    failed, well = make(failure="it broke"), make()
    assert each_trial_once([failed, well]) == [well]
    assert each_trial_once([well, failed]) == [well]


def test_the_latest_of_several_failures_counts():
    """A unit that failed twice has one row."""
    assert each_trial_once([make(failure="first"), make(failure="second")]) == [make(failure="second")]


def test_later_trials_stay_beside_earlier_ones():
    """Trials 0 to 2 and trials 3 to 4 of a unit are two rows."""
    rows = [make(), make(first_trial=3, trials=2)]
    assert each_trial_once(rows) == rows


def test_a_failure_of_later_trials_stays_beside_earlier_results():
    """An extension that failed does not hide what there is."""
    rows = [make(), make(first_trial=3, failure="it broke")]
    assert each_trial_once(rows) == rows


def test_overlapping_rows_hold_every_trial_once():
    """Of trials 0 to 2, trials 0 to 9 and trials 8 to 11 there remain twelve, each once."""
    kept = each_trial_once([make(), make(trials=10), make(first_trial=8, trials=4)])
    assert [(row.first_trial, row.trials) for row in kept] == [(0, 10), (10, 2)]
    assert [error for row in kept for error in row.l2] == [0.5 + trial for trial in range(12)]
    assert kept[1].linf == kept[1].l2


def test_different_settings_are_left_alone():
    """Rows of other samples, seeds or settings never touch each other."""
    rows = [make(), make(sample=1), make(seed=1), make(scale=10), make(parameters='{"root": false}')]
    assert each_trial_once(rows) == rows
