"""Parts of weights as ranks hold them, drawn with lines and letters."""
from __future__ import annotations

import itertools
from typing import Any, Callable, NamedTuple

Runs = list[list[list[int]]]
# More columns or rows than this are cut off.
MOST = 16


class Shards(NamedTuple):
    """A weight and its parts. `parts` has, for each rank that holds a part, the runs of global indices of every dim."""
    name: str
    dtype: str
    shape: tuple[int, ...]
    parts: dict[int, Runs]

    def __repr__(self) -> str:
        head = f"{self.name} {self.dtype}[{', '.join(map(str, self.shape))}]"
        return "\n".join([head, *_drawing(self)])


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


def _borders(shards: Shards, dim: int) -> list[int]:
    """Returns the indices of a dim at which a part begins or ends."""
    runs = itertools.chain.from_iterable(part[dim] for part in shards.parts.values())
    return sorted({0, shards.shape[dim], *itertools.chain.from_iterable(runs)})


def _has(runs: list[list[int]], index: int) -> bool:
    return any(begin <= index < end for begin, end in runs)


def _label(ranks: list[int]) -> str:
    """Formats ranks: [0, 1, 2, 5] -> 'rank 0-2 5'."""
    runs: list[list[int]] = []
    for rank in ranks:
        if runs and rank == runs[-1][-1] + 1:
            runs[-1].append(rank)
        else:
            runs.append([rank])
    return "rank " + " ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs) if runs else ""


def _axes(borders: list[list[int]]) -> tuple[int | None, int | None]:
    """Returns the dims that become rows and columns: the first two that are divided. A last dim alone becomes columns."""
    divided = [dim for dim, cuts in enumerate(borders) if len(cuts) > 2]
    if len(divided) > 1:
        return divided[0], divided[1]
    if not divided:
        return None, None
    return (None, divided[0]) if divided[0] == len(borders) - 1 else (divided[0], None)


def _cells(shards: Shards, borders: list[list[int]], axes: tuple[int | None, int | None]) -> list[list[str]]:
    """Returns the ranks of each part, as rows of columns."""
    def ranks_at(*starts: int | None) -> list[int]:
        places = [(dim, start) for dim, start in zip(axes, starts) if dim is not None and start is not None]
        return [rank for rank, runs in sorted(shards.parts.items()) if all(_has(runs[dim], start) for dim, start in places)]

    rows, columns = ([None] if dim is None else borders[dim][:-1][:MOST] for dim in axes)
    return [[_label(ranks_at(row, column)) for column in columns] for row in rows]


def _drawing(shards: Shards) -> list[str]:
    borders = [_borders(shards, dim) for dim in range(len(shards.shape))]
    axes = _axes(borders)
    cells = _cells(shards, borders, axes)
    width = max(len(cell) for line in cells for cell in line) + 2
    rule = ["─" * width] * len(cells[0])
    lines = ["┌" + "┬".join(rule) + "┐"]
    for line in cells:
        lines += ["│" + "│".join(cell.center(width) for cell in line) + "│", "├" + "┼".join(rule) + "┤"]
    lines[-1] = "└" + "┴".join(rule) + "┘"
    hidden = max((len(borders[dim]) - 1 - MOST for dim in axes if dim is not None), default=0)
    return lines + ([f"and {hidden} more parts of a dim"] if hidden > 0 else [])
