"""The project's own gate for the runner (design §2), with the policy that stood when the run began."""

import base64
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ahp.gate.decide import decide
from ahp.hosts import asking, brief
from ahp.hosts.api import Gate
from ahp.journal import session_calls
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
from ahp.protocol.verdict import Verdict
from ahp.system.errors import AhpError

_BUDGET = 60.0  # seconds for one verdict


class RepositoryGate:
    """The gate of the project at `root`, asked by the agent `agent` in its session `session`.

    Its own `root` is the top of the work tree, where `root` lies in one: paths are judged, and tools work, from there.
    The policy that stood when it was made is asked beside the one of now.
    """

    def __init__(self, root: str, *, session: str, agent: str = "ahp") -> None:
        self.root = asking.around(os.path.abspath(root)).root or os.path.abspath(root)
        self.agent, self.session = agent, session
        self._gate = Gate(self.root, agent=agent, session=session, host="runner", budget=_BUDGET)
        self._policy = StandingPolicy(self._gate)

    @property
    def since(self) -> str:
        """The commit whose policy is asked, too, whatever the run commits later; "" for none."""
        return self._policy.commit

    @since.setter
    def since(self, commit: str) -> None:
        self._policy.commit = commit

    @property
    def policy(self) -> dict[str, Any] | None:
        """What the work tree's policy was when the run began, where that is another than the commit's; plain JSON."""
        return self._policy.text

    @policy.setter
    def policy(self, text: dict[str, Any] | None) -> None:
        self._policy.text = text

    def ask(
        self, trigger: str, *, tool: Mapping[str, Any] | None = None, issue: str | None = None, dry: bool = False
    ) -> Verdict:
        """The verdict of `ahp.Gate`. Raises PolicyError, AhpError."""
        facts: dict[str, Any] = {} if tool is None else {"tool": canonical(tool)}
        checkout = str((tool or {}).get("checkout", ""))
        event = self._gate.event(trigger, issue_id=issue or "", dry=dry, facts=facts, checkout=checkout)
        judges = self._policy.judges(event)
        verdict = decide(event, judges)
        if verdict.box is None and tool is not None and tool.get("boxed") and judges:
            verdict.box = {"rule": "", "keys": judges[0].program.box, "otherwise": "skip"}
        # A call that was changed and tells itself what it touches is judged once more, and counted then.
        if verdict.modified is None or "touched" not in (facts.get("tool") or {}):
            session_calls.note_judged(event, verdict)
        return verdict

    def brief(self) -> str:
        """What the policy asks of an agent, at most 200 tokens; "" where it asks nothing. Raises AhpError."""
        return brief.text(self._gate.event("session-start", dry=True))

    def respond(self, signal_id: str, action: str, details: Mapping[str, Any]) -> None:
        """Records the agent's answer. Raises AnswerRefused, JournalUnwritable."""
        self._gate.respond(signal_id, action, str(details.get("reason", "")))


def canonical(tool: Mapping[str, Any]) -> dict[str, object]:
    """A call of a runner's tool as `ahp.Gate` takes it."""
    called: dict[str, object] = {"name": tool["kind"], "native_name": tool["name"], "input": tool["input"]}
    if tool.get("writes"):
        called["writes"] = True
    if tool.get("touched") is not None:
        called["touched"] = tool["touched"]
    if tool.get("boxed"):
        called["boxed"] = True
    if tool.get("expected") is not None:
        called["expected"] = list(tool["expected"])
    if "output" in tool:
        called.update(output=tool["output"], is_error=tool["code"] != "ok")
    return called


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
