from dpbench.page.summary import summary_tables as tables_of
from dpbench.results import Results
from dpbench.results.setting import algorithm_label
from store.rows import make


def summary_tables(rows):
    """The tables of some rows."""
    return tables_of(Results._from_rows(rows))


def test_a_table_has_means_over_datasets_and_counts_wins():
    """Each cell is the mean over datasets of the mean over trials; stars count datasets on which one is competitive.

    Uniform is a baseline too and not there: Hb is compared with Identity alone.
    """
    rows = [
        make(l2=[1.0, 1.0, 1.0]),
        make(dataset="uniform", l2=[3.0, 3.0, 3.0]),
        make(algorithm="Hb", l2=[2.0, 2.0, 2.0]),
        make(algorithm="Hb", dataset="uniform", l2=[1.0, 1.0, 1.0]),
    ]
    (table,) = summary_tables(rows)
    assert table.errors == {("Identity", 1000): 2.0, ("Hb", 1000): 1.5}
    assert table.wins == {("Identity", 1000): 1, ("Hb", 1000): 1}
    assert table.datasets == ["bimodal", "uniform"]
    assert (table.baselines, table.over) == (["Identity"], {("Hb", 1000): 0.75})


def test_the_order_of_rows_leaves_no_trace():
    """Two runs of one study print the same table."""
    rows = [make(algorithm=name, dataset=data, l2=[0.1, 0.7, 0.2]) for name in ("Hb", "H") for data in ("b", "a")]
    assert summary_tables(rows) == summary_tables(rows[::-1])


def test_failures_are_left_out():
    """A failed unit has no error, and a setting of failures alone has no table."""
    assert summary_tables([make(failure="it broke")]) == []
    (table,) = summary_tables([make(), make(algorithm="Hb", failure="it broke")])
    assert table.algorithms == ["Identity"]


def test_a_single_trial_has_a_mean_and_no_star():
    """Where variability is unknown nobody is called competitive."""
    (table,) = summary_tables([make(trials=1), make(algorithm="Hb", trials=1)])
    assert table.errors["Hb", 1000] == 0.5
    assert table.wins["Hb", 1000] == 0


def test_one_table_for_each_domain_and_epsilon():
    """Tables are ordered by size of the domain, not by its spelling."""
    rows = [make(domain="1024"), make(domain="64"), make(domain="256", epsilon=1.0)]
    assert [table.title for table in summary_tables(rows)] == [
        "Prefix on 64, epsilon 0.1",
        "Prefix on 256, epsilon 1",
        "Prefix on 1024, epsilon 0.1",
    ]


def test_a_form_that_is_not_plain_says_so():
    """Parameters, variants, a public scale and lost privacy stand beside the name."""
    row = make(parameters='{"root": false}', variant="published", side_information="public", private=False)
    assert algorithm_label(row) == "Identity(root=false) [published, public scale, not private]"
