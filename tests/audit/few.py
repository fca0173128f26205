"""Tests of many things of a kind: a few in the default run, all of them in the slow one."""

import pytest


def some_of(things, few):
    """So many of them, evenly chosen, as they are; the others marked slow."""
    every = max(1, len(things) // few)
    return [
        thing if number % every == 0 else pytest.param(thing, marks=pytest.mark.slow)
        for number, thing in enumerate(things)
    ]
