"""Sliding windows along one axis: what a convolution or a pool reads, and only what somebody needs."""

from __future__ import annotations

from dataclasses import dataclass, replace

Padding = str | tuple[int, int]
"""'SAME', 'VALID' or (low, high)."""


@dataclass(frozen=True)
class Window:
    """`out` windows of `size` entries, `stride` apart; the first begins `low` entries before the axis."""

    size: int
    stride: int
    low: int
    out: int

    @property
    def span(self) -> int:
        """Entries from the first window's begin to the last one's end."""
        return (self.out - 1) * self.stride + self.size

    def reads(self, extent: int) -> int:
        """How many entries of an axis of `extent`, from its begin, the windows look at."""
        return min(extent, self.span - self.low)

    def cropped(self, out: int) -> Window:
        """The first `out` windows alone."""
        return replace(self, out=min(self.out, out))


def window(extent: int, size: int, stride: int, padding: Padding) -> Window:
    """The windows that XLA's convolutions and pools lay over an axis of `extent` entries.

    >>> window(28, 8, 2, "SAME")
    Window(size=8, stride=2, low=3, out=14)
    """
    if padding == "SAME":
        out = -(-extent // stride)
        return Window(size, stride, max((out - 1) * stride + size - extent, 0) // 2, out)
    low, high = (0, 0) if padding == "VALID" else padding
    return Window(size, stride, low, (extent + low + high - size) // stride + 1)
