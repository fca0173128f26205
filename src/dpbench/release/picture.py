"""A picture of a released histogram, with nothing but zlib: bars on one axis, a heat map on two."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from dpbench.release.writing import short_label
from dpbench.tables.axes import Axis

Ints = NDArray[np.int64]
Pixels = NDArray[np.uint8]

WIDTH, HEIGHT, MARGIN = 720, 360, 64
LIGHT, DARK = np.array([244.0, 247, 251]), np.array([8.0, 48, 107])
TICKS = 5


def title(dataset: str, columns: Sequence[str], cost: object) -> str:
    """The line above a picture."""
    return f"{dataset}: {' by '.join(columns)} ({cost})"


def png(counts: Ints) -> bytes:
    """The histogram as an image, without words."""
    return _encoded(_bars(counts) if counts.ndim == 1 else _heat(_plane(counts)))


def svg(axes: Sequence[Axis], counts: Ints, above: str) -> bytes:
    """The same with a title and labelled axes; beyond two axes, the first two."""
    plane = counts if counts.ndim == 1 else _plane(counts)
    high = WIDTH if plane.ndim == 2 else HEIGHT
    data = b64encode(png(counts)).decode()
    # the first axis of a plane runs up the page, so its image is turned there
    across, up = (axes[0], None) if plane.ndim == 1 else (axes[1], axes[0])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH + 2 * MARGIN}" height="{high + 2 * MARGIN}" '
        f'font-family="sans-serif" font-size="12">',
        f'<text x="{MARGIN}" y="24" font-size="15">{escape(above)}</text>',
        f'<image x="{MARGIN}" y="{MARGIN - 24}" width="{WIDTH}" height="{high}" preserveAspectRatio="none" '
        f'style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>',
    ]
    bottom = MARGIN - 24 + high
    for place, label in _ticks(across):
        parts.append(
            f'<text x="{MARGIN + place * WIDTH:.0f}" y="{bottom + 16}" text-anchor="middle">{escape(label)}</text>'
        )
    parts.append(f'<text x="{MARGIN + WIDTH / 2}" y="{bottom + 34}" text-anchor="middle">{escape(across.name)}</text>')
    largest = int(plane.max())
    if up is None:
        parts.append(f'<text x="{MARGIN - 6}" y="{MARGIN - 12}" text-anchor="end">{largest:,}</text>')
        parts.append(f'<text x="{MARGIN - 6}" y="{bottom}" text-anchor="end">0</text>')
    else:
        for place, label in _ticks(up):
            parts.append(
                f'<text x="{MARGIN - 6}" y="{bottom - place * high:.0f}" text-anchor="end">{escape(label)}</text>'
            )
        note = f"{up.name} (up); darkest: {largest:,} records, shades by the logarithm"
        parts.append(f'<text x="{MARGIN}" y="{bottom + 52}">{escape(note)}</text>')
    return "\n".join([*parts, "</svg>", ""]).encode()


def _plane(counts: Ints) -> Ints:
    return counts.sum(axis=tuple(range(2, counts.ndim))) if counts.ndim > 2 else counts


def _ticks(axis: Axis) -> list[tuple[float, str]]:
    """Places from 0 to 1 along an axis, and what stands there."""
    cells = axis.cells
    chosen = sorted({round(number * (cells - 1) / (TICKS - 1)) for number in range(TICKS)})
    return [(cell / cells, short_label(axis, cell)) for cell in chosen]


def _bars(counts: Ints) -> Pixels:
    starts = np.arange(WIDTH) * len(counts) // WIDTH
    # more columns of pixels than cells: each has its cell; fewer: the largest of its cells
    tall = counts[starts] if len(counts) <= WIDTH else np.maximum.reduceat(counts, starts)
    height = np.round(tall / max(float(counts.max()), 1.0) * (HEIGHT - 1))
    filled = np.arange(HEIGHT)[::-1, np.newaxis] < height[np.newaxis, :]
    return np.asarray(np.where(filled[..., np.newaxis], DARK, 255.0).astype(np.uint8))


def _heat(plane: Ints) -> Pixels:
    for axis, side in enumerate(plane.shape):
        if side > WIDTH:  # fewer pixels than cells: the largest of theirs
            plane = np.maximum.reduceat(plane, np.arange(WIDTH) * side // WIDTH, axis=axis)
    shade = np.log1p(plane) / max(float(np.log1p(plane.max())), 1.0)
    turned = shade[::-1]
    times = [max(1, WIDTH // side) for side in turned.shape]
    large = np.repeat(np.repeat(turned, times[0], axis=0), times[1], axis=1)
    return np.asarray((LIGHT + (DARK - LIGHT) * large[..., np.newaxis]).astype(np.uint8))


def _encoded(pixels: Pixels) -> bytes:
    """Pixels ``(height, width, 3)`` as PNG."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)
    rows[:, 1:] = pixels.reshape(height, -1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body
