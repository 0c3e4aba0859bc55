"""The other repositories that a tool call writes into: where ahp is installed, their policy is asked too (design §3).

What a call writes is seen from the root of each, so that a rule about `src/**` means that repository's own.
"""

import os

from ahp.facts import call_view, tool_call
from ahp.gate.decide import decide
from ahp.hosts import asking, verdict_text
from ahp.hosts.agents.git_verbs import runs_git
from ahp.hosts.agents.work_trees import top_of
from ahp.journal import session_calls
from ahp.policy.judges import judges_of
from ahp.protocol.event import Event
from ahp.protocol.text import one_line, trim
from ahp.protocol.verdict import Verdict
from ahp.system.errors import AhpError

_MOST = 8  # repositories that one call is judged in


def judge(event: Event, folder: str, seconds: float) -> tuple[Verdict | None, str]:
    """The verdict of the first other repository that refuses, None where none does; and what all of them say.

    `event` has its tool call, made in `folder`. A change that another repository's policy wants is a refusal that says
    so: the call is the project's, and is changed by its policy alone. Raises AhpError.
    """
    roots, said = _roots(event), ""
    if len(roots) > _MOST:
        raise AhpError(f"this call writes into {len(roots)} repositories, more than {_MOST} at once are not judged")
    for root in roots:
        there = _asked(event, root, folder, seconds)
        if there is None:
            continue
        verdict, told = decide(there, judges_of(there)), ""
        if not verdict.denied and runs_git(there):
            from ahp.hosts.agents import git_gate

            refusal, told = git_gate.judge(there)
            if refusal is not None:
                verdict, told = refusal, ""
        session_calls.note_judged(there, verdict)
        if verdict.signals or verdict.notes:
            said += f"In {one_line(there.root, 100)}: {verdict_text.for_agent(verdict)}\n"
        said += f"In {one_line(there.root, 100)}: {told}\n" if told else ""
        if verdict.modified is not None:
            verdict.decision = "deny"
        if verdict.denied:
            return verdict, trim(said.rstrip("\n"), verdict_text.AGENT_LIMIT)
    return None, trim(said.rstrip("\n"), verdict_text.AGENT_LIMIT)


def _asked(event: Event, root: str, folder: str, seconds: float) -> Event | None:
    """The same call as an event of the repository at `root`; None where ahp is not installed there."""
    where = asking.around(root)
    if where.repo is None or where.root == event.root or not os.path.isdir(where.journal):
        return None
    there = asking.event(event.trigger, event.host, event.actor, where, session=event.session, budget=seconds)
    there.attempt = event.attempt
    call = event.tool or {}
    given = call.get("input")
    there.tool = tool_call.read(
        "", str(call.get("native_name", "")), given if isinstance(given, dict) else {}, root=where.root, folder=folder
    )
    there.view = call_view.view_of(there)
    return there


def _roots(event: Event) -> list[str]:
    """The tops of the other work trees that the call writes into, or runs git in."""
    tops: dict[str, None] = {}
    for place in _places(event):
        top = top_of(place)
        if top and top != event.root:
            tops[top] = None
    return list(tops)


def _places(event: Event) -> list[str]:
    """The absolute paths outside the root that the call writes, as far as they are known."""
    call = event.tool or {}
    found: list[str] = []
    writes, commands = call.get("writes"), call.get("commands")
    found += [str(path) for path in writes] if isinstance(writes, list) else []
    for one in commands if isinstance(commands, list) else []:
        if one["program"] == "git" and one["folder"]:
            found.append(tool_call.inside(one["folder"], event.root, str(call.get("folder", ""))))
    home = os.path.dirname(os.path.dirname(event.user_policy))
    found = [home + path[1:] if home and (path + "/").startswith("~/") else path for path in found]
    return [path for path in found if path.startswith("/")]
