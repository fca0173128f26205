"""A mechanism of one's own that lacks a method says which."""

import pytest

from dpbench.privacy.mechanisms import Mechanism


class Mine(Mechanism):
    """Nothing is defined."""

    name = "mine"


@pytest.mark.parametrize(
    ("method", "given"),
    [("truth", [0]), ("level", [1]), ("draw", [0] * 3), ("log_density", [0] * 3), ("largest_loss", [0] * 3)],
)
def test_a_method_that_is_missing_is_named(method, given):
    """With the page that says what it returns."""
    with pytest.raises(NotImplementedError, match=f"^Mine has no {method}; define it, as docs/mechanisms.md says$"):
        getattr(Mine(), method)(*given)


def test_a_claim_that_is_missing_is_named():
    """A property too."""
    with pytest.raises(NotImplementedError, match="^Mine has no claim; "):
        _ = Mine().claim
