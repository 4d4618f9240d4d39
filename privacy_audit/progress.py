"""Progress on long work: a bar with an estimate on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from tqdm import tqdm

SECONDS_BETWEEN_LINES = 10.0


class Progress:
    """Counts work done; `advance` may be called often."""

    def __init__(self, total: int, unit: str, done: int = 0, stream: TextIO | None = None):
        """Starts at `done` of `total` (what was resumed is not counted in the rate)."""
        self._stream = stream or sys.stderr
        self._unit, self._total, self._done, self._resumed = unit, total, done, done
        self._start = self._last_line = time.monotonic()
        self._bar = None
        if self._stream.isatty():
            self._bar = tqdm(
                total=total, initial=done, unit=f" {unit}", file=self._stream, dynamic_ncols=True
            )

    def advance(self, count: int) -> None:
        """Reports `count` more done."""
        self._done += count
        if self._bar is not None:
            self._bar.update(count)
            return
        now = time.monotonic()
        if now - self._last_line >= SECONDS_BETWEEN_LINES or self._done >= self._total:
            self._last_line = now
            print(self._line(now - self._start), file=self._stream, flush=True)

    def close(self) -> None:
        """Leaves the terminal clean."""
        if self._bar is not None:
            self._bar.close()

    def _line(self, seconds: float) -> str:
        rate = (self._done - self._resumed) / max(seconds, 1e-9)
        left = (self._total - self._done) / max(rate, 1e-9)
        share = self._done / max(self._total, 1)
        return (
            f"{self._done}/{self._total} {self._unit} ({share:.0%}), {rate:.3g} {self._unit}/s, "
            f"{left:.0f} s left"
        )
