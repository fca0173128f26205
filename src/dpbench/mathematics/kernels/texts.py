"""Texts, byte by byte: the lines of a CSV file, numbers and moments by fixed grammars.

Each text is read alone. None of them can change how another is read, as a library that looks at many at once may.
A column of texts is its bytes one after the other, and ``(rows + 1,)`` offsets.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64, njit, types, uint8

_BYTES = types.Array(uint8, 1, "C", readonly=True)
_WHOLE = types.Array(int64, 1, "C", readonly=True)
_PAIR = types.UniTuple(int64, 2)  # type: ignore[no-untyped-call]
_STEPS = types.Array(int64, 2, "C", readonly=True)

ANY_MOMENT, ANY_TIME, BY_FORMAT = range(3)
LITERAL, YEAR, SHORT_YEAR, MONTH, DAY, DAY_OF_YEAR, HOUR, HOUR_OF_12, HALF, MINUTE, SECOND, FRACTION, OFFSET = range(13)
"""Steps of a format."""
_DAY = 86_400_000_000
_NOTHING = np.iinfo(np.int64).min
_EXACT = 2**53
_POWERS = np.array([10.0**power for power in range(23)])
"""Floats that are exact."""


@njit(int64(_BYTES, int64, _WHOLE, int64, uint8[:, ::1], int64[:, ::1]), cache=True)
def split_lines(block, stop, wanted, longest, data, ends):  # type: ignore[no-untyped-def]
    """Cells of the wanted columns of the lines in ``block[:stop]``; returns how many lines have cells.

    ``wanted[c]`` is the row of ``data`` for column c, or -1; ``ends[k, row + 1]`` is where a cell ends in ``data[k]``.
    A line ends with LF; a CR before it does not belong to it. A cell that begins with a quote goes on to the next
    quote that is not doubled, and what follows up to the comma is added. Passed over: a line with another number of
    cells than ``len(wanted)``, one whose quote stays open, and one of more than ``longest`` bytes.
    """
    columns, row, start = len(wanted), 0, 0
    filled = np.zeros(len(data), np.int64)
    while start < stop:
        end = start
        while end < stop and block[end] != 10:
            end += 1
        last = end - 1 if end > start and block[end - 1] == 13 else end
        place, column, good = start, 0, end - start <= longest
        while good:
            kept = wanted[column]
            at = filled[kept] if kept >= 0 else 0
            if place < last and block[place] == 34:
                good = False
                place += 1
                while place < last and not good:
                    if block[place] == 34 and (place + 1 == last or block[place + 1] != 34):
                        good = True
                    else:
                        place += block[place] == 34
                        if kept >= 0:
                            data[kept, at] = block[place]
                            at += 1
                    place += 1
            while place < last and block[place] != 44:
                if kept >= 0:
                    data[kept, at] = block[place]
                    at += 1
                place += 1
            if kept >= 0:
                filled[kept] = at
            column += 1
            if place >= last:
                break
            place += 1
            good = good and column < columns
        if good and column == columns:
            row += 1
            for k in range(len(data)):
                ends[k, row] = filled[k]
        else:
            for k in range(len(data)):
                filled[k] = ends[k, row]
        start = end + 1
    return row


@njit(_PAIR(_BYTES, int64, int64), cache=True)
def _trimmed(data, start, end):  # type: ignore[no-untyped-def]
    while start < end and (data[start] == 32 or 9 <= data[start] <= 13):
        start += 1
    while end > start and (data[end - 1] == 32 or 9 <= data[end - 1] <= 13):
        end -= 1
    return start, end


@njit(boolean(_BYTES, int64, int64, _BYTES), cache=True)
def _is_word(data, start, end, word):  # type: ignore[no-untyped-def]
    same = end - start == len(word)
    for k in range(len(word) if same else 0):
        same = same and data[start + k] | 32 == word[k]
    return same


_INF, _INFINITY, _TRUE, _FALSE = (
    np.frombuffer(each, dtype=np.uint8) for each in (b"inf", b"infinity", b"true", b"false")
)


@njit(types.void(_BYTES, _WHOLE, float64[::1], boolean[::1]), cache=True)
def read_numbers(data, offsets, values, hard):  # type: ignore[no-untyped-def]
    """The number that each text is, by one grammar; NaN where it is none.

    A sign or none, digits with a point or none, ``e`` with a power of ten or none; or ``inf``, ``infinity``; ``true``
    is 1 and ``false`` is 0. Blanks around it do not count. ``hard`` marks numbers of so many digits that one operation
    on floats does not round them right; they are for the caller.
    """
    for row in range(len(values)):
        start, end = _trimmed(data, offsets[row], offsets[row + 1])
        values[row], hard[row] = np.nan, False
        place = start
        negative = place < end and data[place] == 45
        if place < end and (data[place] == 45 or data[place] == 43):
            place += 1
        if _is_word(data, place, end, _INF) or _is_word(data, place, end, _INFINITY):
            values[row] = -np.inf if negative else np.inf
            continue
        if _is_word(data, start, end, _TRUE) or _is_word(data, start, end, _FALSE):
            values[row] = 1.0 if end - start == 4 else 0.0
            continue
        mantissa, power, digits, easy = 0, 0, 0, True
        while place < end and 48 <= data[place] <= 57:
            easy = easy and mantissa < _EXACT // 10
            mantissa = mantissa * 10 + (data[place] - 48) if easy else mantissa
            digits += 1
            place += 1
        if place < end and data[place] == 46:
            place += 1
            while place < end and 48 <= data[place] <= 57:
                easy = easy and mantissa < _EXACT // 10
                mantissa = mantissa * 10 + (data[place] - 48) if easy else mantissa
                power -= 1
                digits += 1
                place += 1
        if digits == 0:
            continue
        if place < end and data[place] | 32 == 101:
            place += 1
            downward = place < end and data[place] == 45
            if place < end and (data[place] == 45 or data[place] == 43):
                place += 1
            if place == end:
                continue
            written = 0
            while place < end and 48 <= data[place] <= 57:
                written = min(written * 10 + (data[place] - 48), 10**9)
                place += 1
            power += -written if downward else written
        if place != end:
            continue
        if not easy or power < -22 or power > 22:
            hard[row] = True
            continue
        value = float(mantissa) * _POWERS[power] if power >= 0 else float(mantissa) / _POWERS[-power]
        values[row] = -value if negative else value


@njit(int64(int64, int64, int64), cache=True)
def _days(year, month, day):  # type: ignore[no-untyped-def]
    """Days since 1970 in the Gregorian calendar, carried back to the year 0."""
    year -= month <= 2
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (month + (9 if month <= 2 else -3)) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


@njit(_PAIR(_BYTES, int64, int64, int64, int64), cache=True)
def _digits(data, place, end, least, most):  # type: ignore[no-untyped-def]
    """A whole number of so many digits, and the place after it; -1 where there is none."""
    value, count = 0, 0
    while count < most and place < end and 48 <= data[place] <= 57:
        value = value * 10 + (data[place] - 48)
        count += 1
        place += 1
    return (value, place) if count >= least else (-1, place)


@njit(_PAIR(_BYTES, int64, int64), cache=True)
def _fraction(data, place, end):  # type: ignore[no-untyped-def]
    """Microseconds out of the digits after a point, any more of them dropped; -1 where there is none."""
    value, count = 0, 0
    while place < end and 48 <= data[place] <= 57:
        if count < 6:
            value = value * 10 + (data[place] - 48)
        count += 1
        place += 1
    if count == 0:
        return -1, place
    for _ in range(count, 6):
        value *= 10
    return value, place


@njit(_PAIR(_BYTES, int64, int64, int64), cache=True)
def _clock(data, place, end, least):  # type: ignore[no-untyped-def]
    """Microseconds since midnight, of ``HH:MM:SS.f`` with or without colons; at least so many of its parts; or -1."""
    total, unit, parts, colons = 0, 3_600_000_000, 0, False
    while parts < 3:
        value, place = _digits(data, place, end, 2, 2)
        if value < 0 or value > (23 if parts == 0 else 59):
            return -1, place
        total += value * unit
        unit //= 60
        parts += 1
        if parts == 1:
            colons = place < end and data[place] == 58
        if parts == 3 or place == end:
            break
        if colons:
            if data[place] != 58:
                break
            place += 1
        elif not 48 <= data[place] <= 57:
            break
    if parts < least:
        return -1, place
    if parts == 3 and place < end and (data[place] == 46 or data[place] == 44):
        value, place = _fraction(data, place + 1, end)
        if value < 0:
            return -1, place
        total += value
    return total, place


@njit(_PAIR(_BYTES, int64, int64), cache=True)
def _offset(data, place, end):  # type: ignore[no-untyped-def]
    """Microseconds east of Greenwich, of ``Z``, ``UTC``, ``+HH``, ``+HHMM``, ``+HH:MM`` and ``+HH:MM:SS.f``."""
    if place < end and data[place] | 32 == 122:
        return 0, place + 1
    if place + 3 <= end and data[place] == 85 and data[place + 1] == 84 and data[place + 2] == 67:
        return 0, place + 3
    if place == end or (data[place] != 43 and data[place] != 45):
        return _NOTHING, place
    negative = data[place] == 45
    value, place = _clock(data, place + 1, end, 1)
    if value < 0:
        return _NOTHING, place
    return -value if negative else value, place


@njit(int64(int64, int64), cache=True)
def _month_days(year, month):  # type: ignore[no-untyped-def]
    return _days(year + month // 12, month % 12 + 1, 1) - _days(year, month, 1)


@njit(int64(_BYTES, int64, int64), cache=True)
def _any_moment(data, start, end):  # type: ignore[no-untyped-def]
    year, place = _digits(data, start, end, 4, 4)
    if year < 0 or place == end:
        return _NOTHING
    dashes = data[place] == 45
    month, place = _digits(data, place + dashes, end, 2, 2)
    if month < 1 or month > 12 or (dashes and (place == end or data[place] != 45)):
        return _NOTHING
    day, place = _digits(data, place + dashes, end, 2, 2)
    if day < 1 or day > _month_days(year, month):
        return _NOTHING
    moment = _days(year, month, day) * _DAY
    if place == end:
        return moment
    if data[place] != 32 and data[place] | 32 != 116:
        return _NOTHING
    clock, place = _clock(data, place + 1, end, 1)
    if clock < 0:
        return _NOTHING
    moment += clock
    if place < end:
        place += data[place] == 32
        east, place = _offset(data, place, end)
        if east == _NOTHING or place != end:
            return _NOTHING
        moment -= east
    return moment


@njit(int64(_BYTES, int64, int64), cache=True)
def _any_time(data, start, end):  # type: ignore[no-untyped-def]
    if start + 2 >= end or data[start + 2] != 58:
        return _NOTHING
    clock, place = _clock(data, start, end, 2)
    return clock if place == end and clock >= 0 else _NOTHING


@njit(int64(_BYTES, int64, int64, _STEPS), cache=True)
def _by_format(data, start, end, steps):  # type: ignore[no-untyped-def]
    year, month, day, of_year = 1970, 1, 1, 0
    hour, half, minute, second, micros, east = 0, -1, 0, 0, 0, 0
    place = start
    for k in range(len(steps)):
        kind, least = steps[k, 0], steps[k, 1]
        value = 0
        if kind == LITERAL:
            if place == end or data[place] != least:
                return _NOTHING
            place += 1
        elif kind == OFFSET:
            east, place = _offset(data, place, end)
            if east == _NOTHING:
                return _NOTHING
        elif kind == HALF:
            if place + 2 > end or data[place + 1] | 32 != 109:
                return _NOTHING
            if data[place] | 32 != 97 and data[place] | 32 != 112:
                return _NOTHING
            half = 12 if data[place] | 32 == 112 else 0
            place += 2
        elif kind == FRACTION:
            micros, place = _fraction(data, place, end)
            value = micros
        else:
            value, place = _digits(data, place, end, least, 4 if kind == YEAR else 3 if kind == DAY_OF_YEAR else 2)
            if kind == YEAR:
                year = value
            elif kind == SHORT_YEAR:
                year = value + (1900 if value > 68 else 2000)
            elif kind == MONTH:
                month = value
            elif kind == DAY:
                day = value
            elif kind == DAY_OF_YEAR:
                of_year = value if value > 0 else 999
            elif kind == MINUTE:
                minute = value
            elif kind == SECOND:
                second = value
            else:
                hour = value
                if kind == HOUR_OF_12:
                    if hour < 1 or hour > 12:
                        return _NOTHING
                    hour %= 12
        if value < 0:
            return _NOTHING
    if place != end or hour > 23 or minute > 59 or second > 59 or month < 1 or month > 12 or day < 1:
        return _NOTHING
    if day > _month_days(year, month):
        return _NOTHING
    if of_year > 0:
        if of_year > _days(year + 1, 1, 1) - _days(year, 1, 1):
            return _NOTHING
        day = of_year
    if half > 0:
        hour += half
    clock = ((hour * 60 + minute) * 60 + second) * 1_000_000 + micros
    return _days(year, month, 1) * _DAY + (day - 1) * _DAY + clock - east


@njit(types.void(_BYTES, _WHOLE, int64, _STEPS, float64[::1]), cache=True)
def read_moments(data, offsets, grammar, steps, values):  # type: ignore[no-untyped-def]
    """Microseconds since 1970 in UTC, or since midnight, of each text by one grammar; NaN where it fits it not.

    A moment without an offset is taken as it stands. ``BY_FORMAT`` follows ``steps``, pairs of a kind and a byte
    (``LITERAL``) or the fewest digits. A text that fits only without a final ``.0`` after digits, as programs write
    a column of whole numbers, is read without it.
    """
    for row in range(len(values)):
        start, end = _trimmed(data, offsets[row], offsets[row + 1])
        moment = _NOTHING
        for attempt in range(2):
            if attempt == 1:
                if end - start < 3 or data[end - 1] != 48 or data[end - 2] != 46:
                    break
                end -= 2
                whole = True
                for k in range(start, end):
                    whole = whole and 48 <= data[k] <= 57
                if not whole:
                    break
            if grammar == ANY_MOMENT:
                moment = _any_moment(data, start, end)
            elif grammar == ANY_TIME:
                moment = _any_time(data, start, end)
            else:
                moment = _by_format(data, start, end, steps)
            if moment != _NOTHING:
                break
        values[row] = np.nan if moment == _NOTHING else float(moment)
