import pytest

from dpbench.errors import InvalidInput
from dpbench.standards import Standards, ordinal


@pytest.mark.parametrize(
    "changes",
    [
        {"percentile": 0},
        {"percentile": 100},
        {"percentile": "95"},
        {"percentile": float("nan")},
        {"alpha": 0},
        {"alpha": 1.0},
        {"alpha": True},
        {"baselines": ("Hb", "")},
        {"baselines": (1,)},
    ],
)
def test_values_that_no_reader_could_use_are_refused(changes):
    """One line that says what is wanted."""
    with pytest.raises(InvalidInput, match="; give "):
        Standards(**changes)


def test_baselines_from_a_file_become_a_tuple():
    """JSON and TOML have lists; one name stands for a list of one."""
    assert Standards(baselines=["Hb"]) == Standards(baselines="Hb") == Standards(baselines=("Hb",))
    assert Standards(baselines=[]).baselines == ()


@pytest.mark.parametrize(
    ("number", "words"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (11, "11th"), (12.0, "12th"), (51.0, "51st"), (95, "95th"), (99.5, "99.5th")],
)
def test_percentiles_are_ordinals(number, words):
    """As they are said."""
    assert ordinal(number) == words


def test_captions_name_loss_and_percentile():
    """The paper's, and others."""
    assert Standards().error_words == "scaled L2 error"
    assert Standards(loss="Linf").error_words == "scaled L-infinity error"
    assert Standards(loss="relative").error_words == "relative error"
    assert Standards(percentile=90).percentile_words == "90th percentile"
