"""Pages about plans, runs and trainings."""
from __future__ import annotations

import json
import math
import os
from html import escape
from typing import Any, Mapping, Sequence

from . import _pcc
from .error import Error
from .wording import REPORTABLE, in_words_of

Path = str | os.PathLike[str]
# A frame of its own, so that styles and scripts of the page and of a notebook do not meet. The page needs nothing of the notebook.
FRAME = '<iframe title="pcc report" sandbox="allow-scripts" style="width: 100%; height: 600px; border: 0" srcdoc="{page}"></iframe>'


class Report:
    """A self-contained page, which a notebook shows. `html` is its text, `path` the file that holds it, or None."""

    def __init__(self, html: str, path: str | None) -> None:
        self.html = html
        self.path = path

    def __repr__(self) -> str:
        return f"Report({len(self.html) / 1024:.0f} KiB of HTML{f', {self.path!r}' if self.path else ''})"

    def _repr_html_(self) -> str:
        # All ASCII, whatever the encoding of the notebook's page.
        return FRAME.format(page=escape(self.html).encode("ascii", "xmlcharrefreplace").decode("ascii"))


def _line(step: Mapping[str, Any]) -> str:
    """Returns the line of `metrics=` for a step. JSON has no NaN and no infinity."""
    finite = {name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in step.items()}
    return json.dumps(finite) + "\n"


def _item(number: int, one: object) -> tuple[str, str | None]:
    """Returns a path, or the name and the text of what is shown."""
    if isinstance(one, (str, os.PathLike)):
        return os.fspath(one), None
    name = f"argument {number}"
    if isinstance(one, Mapping):
        return name, json.dumps(one)
    if isinstance(one, Sequence) and all(isinstance(step, Mapping) for step in one):
        return name, "".join(map(_line, one))
    raise Error(f"report() cannot show {name}, which is of type {type(one).__name__}", [REPORTABLE], 2)


def report(*shown: Path | Mapping[str, Any] | Sequence[Mapping[str, Any]], output: Path | None = None,
           titles: Sequence[str] | None = None) -> Report:
    """Draws plans, runs and trainings side by side as one page, and writes it to the file `output`, if given.

    Each of `shown` is a bundle, the result of explain() or inspect(), a list of the steps of a session, or the path of a bundle or a
    file: JSON of inspect, explain or plan, of `report=` or `measurements=`, or the lines of `metrics=`. `titles` names them on the
    page."""
    if not shown:
        raise Error("report() got nothing to show", [REPORTABLE], 2)
    if titles is not None and (isinstance(titles, str) or len(titles) != len(shown)):
        raise Error(f"titles needs a list of {len(shown)} title{'s' * (len(shown) > 1)}, got {titles!r}", [], 2)
    items = [_item(number, one) for number, one in enumerate(shown, 1)]
    path = None if output is None else os.fspath(output)
    with in_words_of("report"):
        page = _pcc.report([(*item, title) for item, title in zip(items, titles or [""] * len(items))], path or "")
    return Report(page, path)
