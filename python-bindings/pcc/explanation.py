"""Explanations of plans."""
from __future__ import annotations

from typing import Any, Mapping, Sequence


class Explanation(dict[str, Any]):
    """What `pcc explain --json` prints, as a dict. Printed, it is `text`, the text of `pcc explain`. `notes` are the notes of the
    compiler."""

    def __init__(self, facts: Mapping[str, Any], text: str, notes: Sequence[str]) -> None:
        super().__init__(facts)
        self.text = text
        self.notes = list(notes)

    def __repr__(self) -> str:
        return self.text.rstrip("\n")
