"""Standards as values."""

import pytest

from dpbench.errors import InvalidInput
from dpbench.standards import FORMER_TESTS, TESTS, Standards


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"percentile": 100}, "percentile has the value 100; give a number between 0 and 100"),
        ({"percentile": float("nan")}, "between 0 and 100"),
        ({"percentile": "95"}, "between 0 and 100"),
        ({"alpha": 0}, "alpha has the value 0; give a number between 0 and 1"),
        ({"test": "sign"}, "no test named 'sign'"),
    ],
)
def test_standards_check_themselves(said, says):
    """A mistake is told in one line."""
    with pytest.raises(InvalidInput, match=says) as refusal:
        Standards(**said)
    assert "\n" not in str(refusal.value)


def test_the_former_name_of_a_test_is_one_of_todays():
    """So that plans and records of earlier versions can be read."""
    assert set(FORMER_TESTS.values()) <= set(TESTS)
