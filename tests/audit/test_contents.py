"""A hash of what an object holds."""

from dataclasses import dataclass

import numpy as np
import pytest

from dpbench.audit.contents import contents


@dataclass
class Holder:
    inside: object


class Slotted:
    __slots__ = ("inside",)

    def __init__(self, inside):
        self.inside = inside


@pytest.mark.parametrize("kind", [Holder, Slotted, lambda value: [value], lambda value: {"a": value}, lambda v: {v}])
def test_what_is_held_counts_and_where_it_lies_does_not(kind):
    """Two objects that hold the same are the same; another number inside shows."""
    assert contents(kind(1.5)) == contents(kind(1.5))
    assert contents(kind(1.5)) != contents(kind(2.5))


def test_arrays_count_by_shape_type_and_numbers():
    """Also within objects that hold themselves."""
    holder = Holder(np.arange(4))
    holder.itself = holder
    before = contents(holder)
    assert contents(np.arange(4)) != contents(np.arange(4.0))
    assert contents(np.arange(4)) != contents(np.arange(4).reshape(2, 2))
    holder.inside[2] += 1
    assert contents(holder) != before
