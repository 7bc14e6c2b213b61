"""Training sessions, in which the caller starts each step."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping

from numpy.typing import NDArray

from . import _pcc
from .error import Error
from .keywords import words_of
from .progress import Progress
from .wording import arrays_by_name, in_words_of

if TYPE_CHECKING:
    from .bundle import Bundle

# Options of `pcc run` for actions that a session performs when its methods are called.
TOLD = ("steps", "save", "save_every", "metrics", "output", "report", "repeat", "warmup", "comm")


class Session:
    """A training run whose ranks are threads of this process and wait for the next call. An error ends it, unless the inputs of
    a step are wrong; so does Ctrl-C. A saved checkpoint can be resumed. Close the session, or drop it, to free its memory."""

    def __init__(self, bundle: Bundle, resume: str | os.PathLike[str] | None, options: Mapping[str, object]) -> None:
        for keyword in options:
            if keyword in TOLD:
                raise Error(f"a session has no option {keyword}", ["a session has methods for this; Bundle.run has the option"], 2)
        actions = [action for rank in bundle.inspect()["ranks"] for action in rank["actions"]]
        if all("F" in action for action in actions):
            raise Error("the bundle does not train", ["compile the model with train=True"], 2)
        self._bundle = bundle
        self._last: dict[str, Any] = {}
        with in_words_of("train"):
            self._ranks: _pcc.Ranks | None = _pcc.Ranks(bundle.path, words_of("run", options))
        self.notes: list[str] = []
        if resume is not None:
            self.resume(resume)

    def __repr__(self) -> str:
        loss = self._last.get("loss")
        done = f"step {self._last['step']}" + (f", loss {loss:.4g}" if loss is not None else "") if self._last else "no step yet"
        return f"Session({'closed' if self._ranks is None else 'open'}, {done}, {self._bundle!r})"

    def step(self, inputs: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Executes one step on these arrays, or on the next batch of `data`. Returns step (from 1), loss, grad_norm (before
        clipping), lr, seconds."""
        with in_words_of("step"):
            arrays = arrays_by_name(inputs, "step", [entry["name"] for entry in self._bundle.inspect()["inputs"]] if inputs is not None else [])
            self._last = self._open().step(arrays)
        return self._last

    def steps(self, batches: Iterable[Mapping[str, Any]], progress: bool = False) -> Iterator[dict[str, Any]]:
        """Yields the result of one step per batch."""
        with Progress(len(batches) if hasattr(batches, "__len__") else None, "step", progress) as bar:
            for batch in batches:
                metrics = self.step(batch)
                bar.advance(f"loss {metrics['loss']:.4g}")
                yield metrics

    def outputs(self) -> dict[str, NDArray[Any]]:
        """Returns the outputs of the last step by name."""
        return self._open().outputs()

    def parameters(self) -> dict[str, NDArray[Any]]:
        """Returns the current values of the trained weights: whole tensors, by their names and with their shapes in the model."""
        return self._open().parameters()

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Saves a checkpoint: parameters, optimizer state, step. Any plan can resume it, and `pcc checkpoint export` can
        convert it."""
        self._open().save(os.fspath(directory))

    def resume(self, directory: str | os.PathLike[str]) -> None:
        """Continues from the newest checkpoint in `directory`, which may have been saved with another plan."""
        self.notes += self._open().resume(os.fspath(directory))

    def close(self) -> None:
        """Ends the ranks."""
        self._ranks = None

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> _pcc.Ranks:
        if self._ranks is None:
            raise Error("the session is closed", [], 2)
        return self._ranks
