"""`ahp exec -- COMMAND`: a command that moves issues passes the gate first, whatever it is wrapped in (design §9)."""

import os
import shlex
from typing import Any, NamedTuple

from ahp.facts import tool
from ahp.gate.decide import decide
from ahp.hosts.api import Gate
from ahp.hosts.issue import branches_of
from ahp.hosts.verdict_text import say, steps_of
from ahp.protocol.event import Event, identify
from ahp.protocol.signals import reason_of
from ahp.protocol.verdict import Verdict
from ahp.shell import monoco
from ahp.system import boundaries, environ, jsontext, process
from ahp.system.errors import AhpError
from ahp.system.git import Repository
from ahp.system.history import RangeView
from ahp.tickets import life, tasklist
from ahp.tickets.tracker import named, of_issue

FOLLOWED = "AHP_FOLLOWED"  # "STEP ISSUE,…": of these moves somebody around the command says what follows


class IssueGate(NamedTuple):
    """One gate that the command has to pass: the step, the issue, the folder it happens in, and who asks."""

    step: str
    issue: str
    folder: str
    json: bool
    host: str = "exec"
    solution: str = ""

    def event(self, when: str) -> Event:
        """The event before (`pre`) or after (`post`) the step. Raises AhpError."""
        event = Gate(self.folder, host=self.host).event(f"{when}-issue-{self.step}", issue_id=self.issue)
        event.solution = self.solution
        if when == "pre" and self.step == "close" and event.repo is not None:
            event.view = _branch_tip(event.repo, self.issue) or event.view
        return event


def gates_of(argv: list[str], host: str = "exec") -> list[IssueGate]:
    """The gates that a command line has to pass, in order; [] when it moves no issue. `host` is who asks.

    Raises AhpError when it moves one and nobody can tell which, or where.
    """
    found: list[IssueGate] = []
    for command in _commands(argv):
        given = monoco.arguments(command["program"], command["args"])
        move = monoco.read(given) if given is not None else None
        if move is not None:
            if command["unresolved"]:
                raise AhpError("which issue this moves is only told by running it; write the id out")
            # `python -m monoco` is read twice, as what Python does and as what the module does.
            gates = _gates(move, os.path.join(command["folder"] or ".", move.root), host)
            found += [gate for gate in gates if gate not in found]
    return found


def through_the_gate(argv: list[str], asking: str) -> int:
    """Judges a command, runs it, judges what follows; its exit code. `asking` is the host: exec, shim."""
    env = environ.current()
    gates = gates_of(argv, asking)
    verdicts = ask(gates)
    told_json = any(env.get(name, "").lower() in ("1", "true") for name in ("AGENT_FLAG", "MONOCO_AGENT"))
    as_json = told_json or any(gate.json for gate in gates)
    for verdict in verdicts:
        if verdict.denied and as_json:
            print(jsontext.encode(_refusal(verdict)))
            return 1
        if say(verdict, identify(env), env):
            return 1
    code = process.attached(argv, {**env, **followed(gates)})
    if code == 0:
        for after in follow(gates):
            say(after, identify(env), env)
    return code


def _refusal(verdict: Verdict) -> dict[str, object]:
    """A refusal as Monoco words its own, for who reads its JSON."""
    blocks = [signal for signal in verdict.signals if signal.intensity == "block"]
    reasons = [f"[{signal.context['rule']}] {reason_of(signal.payload)}" for signal in blocks]
    steps = [step for signal in blocks for step in steps_of(signal.payload)]
    error = f"{verdict.trigger} refused by ahp: {'; '.join(reasons)}"
    return {"error": error, "suggestions": steps, "decision": "deny"}


def _commands(argv: list[str]) -> list[dict[str, Any]]:
    """The commands in a command line, as `tool.commands` has them; where no wing reads shells, that one alone."""
    alone = {"program": os.path.basename(argv[0]), "args": argv[1:], "folder": "", "unresolved": False}
    read = tool.call_of("shell", "shell", {"command": shlex.join(argv)}).get("commands")
    return read if isinstance(read, list) else [alone]


def ask(gates: list[IssueGate]) -> list[Verdict]:
    """The verdicts of the gates, in order; the last one refuses if any does. Raises AhpError."""
    verdicts: list[Verdict] = []
    for gate in gates:
        verdicts.append(decide(gate.event("pre")))
        if verdicts[-1].denied:
            break
    return verdicts


def followed(gates: list[IssueGate]) -> dict[str, str]:
    """The variable naming the moves that `follow` reports, so that the adapter inside Monoco does not repeat them."""
    return {FOLLOWED: ",".join(f"{gate.step} {gate.issue}" for gate in gates)} if gates else {}


def follow(gates: list[IssueGate]) -> list[Verdict]:
    """What the gates say after the command did its work."""
    return [decide(gate.event("post")) for gate in gates]


def _gates(move: monoco.Move, root: str, host: str) -> list[IssueGate]:
    if not os.path.isdir(root):
        raise AhpError(f"there is no folder {root}")
    folder = os.path.abspath(root)
    event = Gate(folder).event("pre-issue-start")
    issue = named(move.issue) if move.issue else tasklist.of_branch(event.repo.branch() if event.repo else "")
    if not issue:
        raise AhpError(f"`monoco issue {move.command}` names no issue")
    steps = [move.command]
    if move.command == "update":
        if event.view is None:
            raise AhpError("issues live in a git repository; there is none here")
        steps = life.gates(of_issue(event.view, issue, event.project).get(issue).phase, move.goal, move.solution)
    return [IssueGate(step, issue, folder, move.json, host, move.solution) for step in steps]


def _branch_tip(repo: Repository, issue: str) -> RangeView | None:
    """What the issue's branch brings, when another one is checked out: Monoco closes from main, and merges it there."""
    branches = branches_of(repo, issue)
    if tasklist.of_branch(repo.branch()) == issue or len(branches) != 1:
        return None
    tip = f"refs/heads/{branches[0]}"
    ours, theirs = repo.commit_id("HEAD"), repo.commit_id(tip)
    return boundaries.range_over(repo, theirs, [ours], whole=False) if ours and theirs else None
