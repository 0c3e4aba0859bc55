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
from ahp.policy.succession import program_of
from ahp.policy.tree import PolicyTree
from ahp.protocol.event import Event
from ahp.protocol.verdict import Verdict
from ahp.system import environ
from ahp.system.errors import AhpError

_BUDGET = 60.0  # seconds for one verdict


class RepositoryGate:
    """The gate of the project at `root`, asked by the agent `agent` in its session `session`.

    Its own `root` is the top of the work tree, where `root` lies in one: paths are judged, and tools work, from there.
    The policy that stood when it was made is asked beside the one of now: that of the commit `since`, where HEAD was
    then ("" before the first commit and outside a repository), and what the work tree had beyond it, `policy`. A
    resumed run sets both to those of its beginning. `traceparent` is the W3C trace context of what is judged, where it
    is another than the environment's.
    """

    def __init__(self, root: str, *, session: str, agent: str = "ahp") -> None:
        self.root = asking.around(os.path.abspath(root)).root or os.path.abspath(root)
        self.agent, self.session, self.traceparent = agent, session, ""
        self._gate = Gate(self.root, agent=agent, session=session, host="runner", budget=_BUDGET)
        event = self._gate.event("pre-tool-use", dry=True)
        self.since = event.repo.head_id() if event.repo is not None else ""
        self._tree: PolicyTree | None = None
        self._policy: dict[str, Any] | None = None
        self._programs: dict[str, Program] = {}
        try:
            working = [judge for judge in judges_of(event) if judge.origin == WORKING]
            if working:
                kept: dict[str, Any] = {"adds": working[0].adds, "layers": [], "beside": {}}
                source = FileSource(event.root, event.user_policy)
                self._programs, self._policy = compiling.programs(layers.load(_Kept(kept, source))), kept
        except AhpError:
            pass  # nothing that loads stood in the work tree; what is asked later says so

    @property
    def policy(self) -> dict[str, Any] | None:
        """The files of the work tree's policy when the run began, where it is another than the commit's; plain JSON."""
        return self._policy

    @policy.setter
    def policy(self, text: dict[str, Any] | None) -> None:
        self._policy, self._programs = text, {}
        if text is not None:
            # A newer ahp may not take it any more; what stood committed is asked all the same.
            with suppress(PolicyError):
                self._programs = compiling.programs(layers.load(_Kept(text)))

    def ask(self, trigger: str, *, tool: Mapping[str, Any] | None = None, dry: bool = False) -> Verdict:
        """The verdict of `ahp.Gate`. Raises PolicyError, AhpError."""
        facts: dict[str, Any] = {} if tool is None else {"tool": canonical(tool)}
        checkout = str((tool or {}).get("checkout", ""))
        event = self._gate.event(trigger, dry=dry, facts=facts, checkout=checkout)
        if self.traceparent:
            event.env = environ.traced(event.env, self.traceparent)
        judges = self._judges(event)
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

    def _judges(self, event: Event) -> list[Judge]:
        """Who judges `event`: who does now, and who did when the run began. Raises PolicyError, AhpError."""
        now = judges_of(event)
        known = {judge.program.policy for judge in now}
        committed, program = self._committed(event), self._programs.get(event.trigger)
        stood = [] if committed is None else [committed]
        if program is not None and self._policy is not None:
            stood.append(Judge(program, WORKING, excusing=self._tree, adds=bool(self._policy["adds"])))
        return [*now, *[judge for judge in stood if judge.program.policy not in known]]

    def _committed(self, event: Event) -> Judge | None:
        """The policy of the commit that the run began at; None where it had none that loads."""
        if not self.since or event.repo is None:
            return None
        if self._tree is None or self._tree.commit != self.since:
            self._tree = trees.of_commit(event.repo, self.since, "the commit that this run began at")
        if not self._tree.has_policy:
            return None
        asked = (self._tree, event.journal, event.trigger)
        program = cache.find_committed(*asked) or program_of(*asked)[0]
        return Judge(program, COMMITTED, self._tree) if program is not None else None


def canonical(tool: Mapping[str, Any]) -> dict[str, object]:
    """A call of a runner's tool as `ahp.Gate` takes it."""
    called: dict[str, object] = {"name": tool["kind"], "native_name": tool["name"], "input": tool["input"]}
    called |= {name: tool[name] for name in ("writes", "boxed", "annotations") if tool.get(name)}
    called |= {name: tool[name] for name in ("touched", "expected") if tool.get(name) is not None}
    if "output" in tool:
        called.update(output=tool["output"], is_error=tool["code"] != "ok")
    return called


class _Kept:
    """A policy as plain JSON: `layers` are [layer, name, base64], `beside` base64 by `layer:path`.

    Where `source` is given, it is read from there.
    """

    def __init__(self, text: dict[str, Any], source: FileSource | None = None) -> None:
        self._text, self._source = text, source
        self.watched: list[Watched] = []

    def layers(self) -> list[tuple[str, str, bytes]]:
        if self._source is not None:
            found = self._source.layers()
            self._text["layers"] = [[layer, name, base64.b64encode(data).decode()] for layer, name, data in found]
        return [(layer, name, base64.b64decode(data)) for layer, name, data in self._text["layers"]]

    def beside(self, layer: str, relative: str) -> bytes | None:
        key = f"{layer}:{relative}"
        if self._source is not None and (read := self._source.beside(layer, relative)) is not None:
            self._text["beside"][key] = base64.b64encode(read).decode()
        data = self._text["beside"].get(key)
        return None if data is None else base64.b64decode(data)
