"""Progress bar, shown if tqdm is installed and the caller asks for it."""
from __future__ import annotations

import warnings
from typing import Any


class Progress:
    """Shows how many of `total` steps are done, and the last message."""

    def __init__(self, total: int | None, unit: str, wanted: bool) -> None:
        self._bar: Any = None
        if not wanted:
            return
        try:
            from tqdm.auto import tqdm
        except ImportError:
            warnings.warn("progress needs tqdm: pip install tqdm", stacklevel=3)
            return
        self._bar = tqdm(total=total, unit=unit)

    def advance(self, what: str) -> None:
        if self._bar is not None:
            self._bar.set_postfix_str(what)
            self._bar.update()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
