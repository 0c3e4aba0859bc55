"""The policy that stood when a run began: what the run changes below `.ahp/` weakens nothing for it (authority §2).

Not by the change itself, which HEAD's policy outlasts, nor by its own commit, after which HEAD's is the weaker one.
"""

import base64
from contextlib import suppress
from typing import Any

from ahp.hosts.api import Gate
from ahp.policy import cache, layers
from ahp.policy import compile as compiling
from ahp.policy import tree as trees
from ahp.policy.judge import COMMITTED, WORKING, Judge
from ahp.policy.judges import judges_of
from ahp.policy.problems import PolicyError
from ahp.policy.program import Program
from ahp.policy.sources import FileSource, Watched
from ahp.policy.tree import PolicyTree
from ahp.protocol.event import Event
from ahp.system.errors import AhpError


class _Recorded:
    """A source that keeps what is read from it: `[layer, name, base64]`, and base64 by `layer:path`."""

    def __init__(self, source: FileSource) -> None:
        self._source = source
        self.watched: list[Watched] = []
        self.read_layers: list[list[str]] = []
        self.read_beside: dict[str, str] = {}

    def layers(self) -> list[tuple[str, str, bytes]]:
        found = self._source.layers()
        self.read_layers = [[layer, name, base64.b64encode(data).decode()] for layer, name, data in found]
        return found

    def beside(self, layer: str, relative: str) -> bytes | None:
        data = self._source.beside(layer, relative)
        if data is not None:
            self.read_beside[f"{layer}:{relative}"] = base64.b64encode(data).decode()
        return data


class _Kept:
    """The source that was recorded so."""

    def __init__(self, text: dict[str, Any]) -> None:
        self._text = text
        self.watched: list[Watched] = []

    def layers(self) -> list[tuple[str, str, bytes]]:
        return [(layer, name, base64.b64decode(data)) for layer, name, data in self._text["layers"]]

    def beside(self, layer: str, relative: str) -> bytes | None:
        data = self._text["beside"].get(f"{layer}:{relative}")
        return None if data is None else base64.b64decode(data)


class StandingPolicy:
    """The policies that a run is judged by: those of now, and beside them those of its beginning.

    `commit` is where HEAD was then, "" before the first commit and outside a repository. `text` is what the work tree
    had beyond it, None where that was nothing; it is plain JSON. A resumed run sets both to those of its beginning.
    """

    def __init__(self, gate: Gate) -> None:
        event = gate.event("pre-tool-use", dry=True)
        self.commit = event.repo.head_id() if event.repo is not None else ""
        self._tree: PolicyTree | None = None
        self._text: dict[str, Any] | None = None
        self._programs: dict[str, Program] = {}
        try:
            working = [judge for judge in judges_of(event) if judge.origin == WORKING]
            if working:
                source = _Recorded(FileSource(event.root, event.user_policy))
                self._programs = compiling.programs(layers.load(source))
                self._text = {"adds": working[0].adds, "layers": source.read_layers, "beside": source.read_beside}
        except AhpError:
            self._programs = {}  # nothing that loads stood in the work tree; what is asked later says so

    @property
    def text(self) -> dict[str, Any] | None:
        """The files of the work tree's policy as they stood, for `run_start`."""
        return self._text

    @text.setter
    def text(self, text: dict[str, Any] | None) -> None:
        self._text, self._programs = text, {}
        if text is not None:
            # A newer ahp may not take it any more; what stood committed is asked all the same.
            with suppress(PolicyError):
                self._programs = compiling.programs(layers.load(_Kept(text)))

    def judges(self, event: Event) -> list[Judge]:
        """Who judges `event`. Raises PolicyError, AhpError, as `judges_of` does."""
        now = judges_of(event)
        known = {judge.program.policy for judge in now}
        committed, program = self._committed(event), self._programs.get(event.trigger)
        stood = [] if committed is None else [committed]
        if program is not None and self._text is not None:
            stood.append(Judge(program, WORKING, excusing=self._tree, adds=bool(self._text["adds"])))
        return [*now, *[judge for judge in stood if judge.program.policy not in known]]

    def _committed(self, event: Event) -> Judge | None:
        """The policy of the commit that the run began at; None where it had none that loads."""
        if not self.commit or event.repo is None:
            return None
        if self._tree is None or self._tree.commit != self.commit:
            self._tree = trees.of_commit(event.repo, self.commit, "the commit that this run began at")
        program = _program(self._tree, event) if self._tree.has_policy else None
        return Judge(program, COMMITTED, self._tree) if program is not None else None


def _program(tree: PolicyTree, event: Event) -> Program | None:
    found = cache.find_committed(tree, event.journal, event.trigger)
    if found is not None:
        return found
    try:
        return compiling.committed(tree, event.journal)[event.trigger]
    except PolicyError:
        return None
