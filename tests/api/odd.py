"""Values that somebody may pass by mistake or out of malice, each made afresh."""

from __future__ import annotations

import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np

import dpbench as dpb


class Hostile:
    """Nothing can be done with it."""

    def _fail(self, *given):
        raise RuntimeError("hostile")

    __repr__ = __str__ = __len__ = __iter__ = __array__ = __float__ = __int__ = __index__ = __eq__ = __lt__ = _fail
    __bool__ = __getitem__ = __fspath__ = _fail
    __hash__ = object.__hash__


class Shifted(np.ndarray):
    """An array whose arithmetic is its own."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return np.zeros(3)


def _matrix():
    with warnings.catch_warnings(action="ignore"):
        return np.asmatrix([[1, 2], [3, 4]])


ODD = {
    "None": lambda: None,
    "True": lambda: True,
    "False": lambda: False,
    "0": lambda: 0,
    "1": lambda: 1,
    "-1": lambda: -1,
    "2": lambda: 2,
    "7": lambda: 7,
    "2**31": lambda: 2**31,
    "10**12": lambda: 10**12,
    "2**40": lambda: 2**40,
    "2**53 + 1": lambda: 2**53 + 1,
    "2**62": lambda: 2**62,
    "2**63": lambda: 2**63,
    "10**400": lambda: 10**400,
    "10**5000": lambda: 10**5000,
    "-10**5000": lambda: -(10**5000),
    "0.0": lambda: 0.0,
    "-0.0": lambda: -0.0,
    "0.5": lambda: 0.5,
    "1.0": lambda: 1.0,
    "4.5": lambda: 4.5,
    "1e14": lambda: 1e14,
    "1e100": lambda: 1e100,
    "1e308": lambda: 1e308,
    "1e-100": lambda: 1e-100,
    "1e-320": lambda: 1e-320,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "-inf": lambda: float("-inf"),
    "1j": lambda: 1j,
    "numpy 3": lambda: np.int64(3),
    "numpy uint8 4": lambda: np.uint8(4),
    "numpy 0.5": lambda: np.float64(0.5),
    "numpy float32": lambda: np.float32(0.1),
    "numpy longdouble": lambda: np.longdouble("1e4000"),
    "numpy nan": lambda: np.float64("nan"),
    "numpy True": lambda: np.bool_(True),
    "0-d array": lambda: np.array(3),
    "Decimal": lambda: Decimal("0.5"),
    "Decimal sNaN": lambda: Decimal("sNaN"),
    "Decimal huge": lambda: Decimal("1e999999"),
    "Decimal tiny": lambda: Decimal("1e-999999"),
    "Fraction": lambda: Fraction(1, 3),
    "Fraction huge": lambda: Fraction(10**600, 7),
    "empty text": lambda: "",
    "text": lambda: "abc",
    "number as text": lambda: "2",
    "long name": lambda: "x" * 300,
    "long text": lambda: "x" * 10_000,
    "lines": lambda: "one\ntwo\r\nthree\x1b[31m\u2028",
    "surrogate": lambda: "\ud800",
    "zero byte": lambda: "a\0b",
    "bytes": lambda: b"abc",
    "path": lambda: Path("no/such/file.csv"),
    "folder": Path,
    "garbage": lambda: Path("garbage.bin"),
    "[]": list,
    "()": tuple,
    "{}": dict,
    "set": lambda: {1, 2},
    "[1, 2]": lambda: [1, 2],
    "[0.5, nan]": lambda: [0.5, float("nan")],
    "ragged": lambda: [[1], [1, 2]],
    "nested": lambda: [[[1]]],
    "texts": lambda: ["a", "b"],
    "nones": lambda: [None, None],
    "mapping": lambda: {"a": 1},
    "name": lambda: {"name": "relative", "floor": "x"},
    "huge range": lambda: range(10**12),
    "endless": lambda: iter(int, 1),
    "function": lambda: len,
    "anything": lambda: lambda *given, **named: None,
    "huge shape": lambda: (10**9,),
    "algorithm base": lambda: dpb.Algorithm,
    "class": lambda: Hostile,
    "hostile": Hostile,
    "object array": lambda: np.array([1, None, "a"], dtype=object),
    "empty array": lambda: np.zeros((0, 4)),
    "4 cells": lambda: np.array([1, 2, 3, 4]),
    "4 halves": lambda: np.full(4, 0.5),
    "2 x 2 cells": lambda: np.array([[1, 2], [3, 4]]),
    "masked": lambda: np.ma.array([1, 2, 3, 4], mask=[0, 1, 0, 0]),
    "unmasked": lambda: np.ma.array([1, 2, 3, 4]),
    "2**62 cells": lambda: np.full(4, 2**62),
    "2**61 cells": lambda: np.full(4, 2**61),
    "uint64 cells": lambda: np.full(4, 2**64 - 1, dtype=np.uint64),
    "int64 least": lambda: np.full(4, -(2**63)),
    "negative cells": lambda: np.array([1, -2, 3, 4]),
    "nan cells": lambda: np.array([1, np.nan, 3, 4]),
    "inf cells": lambda: np.array([1, np.inf, 3, 4]),
    "1e308 cells": lambda: np.full(4, 1e308),
    "tiny cells": lambda: np.full(4, 5e-324),
    "longdouble cells": lambda: np.full(4, np.longdouble("1e4000")),
    "half cells": lambda: np.array([1, 2, 3, 4], dtype=np.float16),
    "truth cells": lambda: np.array([True, False, True, True]),
    "complex cells": lambda: np.ones(4, dtype=complex),
    "dates": lambda: np.array(["2026-01-01"] * 4, dtype="datetime64[D]"),
    "records": lambda: np.zeros(4, dtype=[("a", int)]),
    "strange arithmetic": lambda: np.arange(4.0).view(Shifted),
    "matrix": _matrix,
    "broadcast": lambda: np.broadcast_to(1, 10**12),
    "backwards": lambda: np.arange(4)[::-1],
    "big endian": lambda: np.arange(4, dtype=">i4"),
    "65 axes as text": lambda: "x".join(["1"] * 65),
    "domain": lambda: dpb.Domain((4,)),
    "workload": lambda: dpb.workloads.Prefix(4),
    "weights": lambda: dpb.workloads.Ranges(4, [0, 1], [4, 2], [1e100, -1e100]),
    "algorithm": lambda: dpb.algorithms.get("Identity"),
    "algorithm class": lambda: dpb.algorithms.everything()["Identity"],
    "loss": lambda: dpb.loss.get("L1"),
    "error": lambda: ValueError("x"),
}
"""By name, so that a failing case can be read."""
