from dataclasses import replace

import pyarrow as pa

from dpbench.store.schema import arrow_schema, each_trial_once, from_table, to_table
from store.rows import make


def test_rows_survive_the_way_through_arrow():
    """A row comes back from a table as it went in, every bit of its errors."""
    rows = [
        make(
            l2=[0.1 + 0.2, 5e-324, 1.7976931348623157e308], other_losses={"relative": [0.1 + 0.2, 1.0, 2.0]}, queries=9
        ),
        make(sample=1, failure="it broke", algorithm="Ä☃"),
    ]
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


def test_rows_of_an_older_store_have_no_other_losses():
    """Columns that are null there are empty here, and never made up."""
    table = to_table([make(queries=5)]).drop_columns(["queries", "other_losses"])
    old = pa.concat_tables([to_table([]), table], promote_options="permissive")
    assert from_table(old) == [make(queries=0, other_losses={})]


class TestOtherLosses:
    """Of several rows with one trial every loss that one of them holds is kept."""

    def test_the_row_with_more_losses_is_kept(self):
        """A unit that was run again for its loss is one row, whichever was stored first."""
        before, after = make(), make(other_losses={"relative": [1.0, 2.0, 3.0]}, queries=64, run="later")
        assert each_trial_once([before, after]) == each_trial_once([after, before]) == [after]

    def test_losses_of_two_rows_are_joined(self):
        """Two runs that asked for different losses."""
        one, other = make(other_losses={"a": [1.0, 2.0, 3.0]}), make(other_losses={"b": [4.0, 5.0, 6.0]})
        (kept,) = each_trial_once([one, other])
        assert kept == replace(one, other_losses={"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0]})

    def test_trials_without_a_loss_stand_in_a_row_of_their_own(self):
        """Three of five trials were run again for a loss: nothing is filled in for the other two."""
        rows = [make(trials=5), make(other_losses={"a": [1.0, 2.0, 3.0]})]
        for order in (rows, rows[::-1]):
            kept = each_trial_once(order)
            assert [(row.first_trial, row.l2, row.other_losses) for row in kept] == [
                (0, [0.5, 1.5, 2.5], {"a": [1.0, 2.0, 3.0]}),
                (3, [3.5, 4.5], {}),
            ]

    def test_a_part_of_a_row_has_the_same_part_of_every_loss(self):
        """Trials 2 to 4 of a row that another one overlaps."""
        rows = [
            make(other_losses={"a": [1.0, 2.0, 3.0]}),
            make(first_trial=1, trials=4, other_losses={"a": [2.0, 3.0, 4.0, 5.0]}),
        ]
        assert [row.other_losses for row in each_trial_once(rows)] == [{"a": [1.0, 2.0, 3.0]}, {"a": [4.0, 5.0]}]
