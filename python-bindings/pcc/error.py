"""The only exception of pcc."""
from __future__ import annotations

from typing import Any, Sequence


class Error(Exception):
    """An error of pcc, with the message, notes and exit code of the tool (`pcc --help` lists the codes). `report` is set if a
    verification has found values that differ."""

    report: dict[str, Any] | None = None

    def __init__(self, message: str, notes: Sequence[str] = (), exit_code: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.notes = list(notes)
        self.exit_code = exit_code
        for note in notes:
            self.add_note(f"note: {note}")

    def __reduce__(self) -> tuple[type[Error], tuple[str, list[str], int]]:
        return type(self), (self.message, self.notes, self.exit_code)
