"""Parts of weights as ranks hold them, drawn with lines and letters."""
from __future__ import annotations

from typing import Any, Callable, NamedTuple

from . import _pcc

Runs = list[list[list[int]]]


class Shards(NamedTuple):
    """A weight and its parts. `parts` has, for each rank that holds a part, the runs of global indices of every dim."""
    name: str
    dtype: str
    shape: tuple[int, ...]
    parts: dict[int, Runs]

    def __repr__(self) -> str:
        return _pcc.draw_shards(self.name, self.dtype, self.shape, self.parts)


def shards_of(facts: dict[str, Any], is_wanted: Callable[[str], bool]) -> list[Shards]:
    """Returns the shards of the weights that are wanted, by the description of a bundle."""
    found: dict[str, Shards] = {}
    for rank in facts["ranks"]:
        for parameter in rank["parameters"]:
            name = parameter["name"]
            if is_wanted(name):
                empty = Shards(name, parameter["dtype"], tuple(parameter["shape"]), {})
                found.setdefault(name, empty).parts[rank["rank"]] = parameter["runs"]
    return list(found.values())
