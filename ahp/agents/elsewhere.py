"""The other work trees that a tool call writes into: where ahp is installed, their policy is asked too (design §3).

What a call writes is seen from the root of each, so that a rule about `src/**` means that repository's own.
"""

import os

from ahp.agents import places
from ahp.agents.calls import call_view, tool_call
from ahp.gate.decide import decide
from ahp.hosts import asking, verdict_text
from ahp.journal import session_calls
from ahp.policy.judge import judges_of
from ahp.protocol.event import Event, Workspace
from ahp.protocol.text import one_line
from ahp.protocol.verdict import Verdict
from ahp.system.errors import AhpError

_MOST = 8  # repositories that one call is judged in


def judge(event: Event, folder: str, seconds: float, here: Verdict) -> tuple[Verdict | None, str]:
    """The verdict of the first other work tree that refuses, None where none does; and what all of them say.

    `event` has its tool call, made in `folder`; what `here` tells of it already is not told again. A change that
    another policy wants is a refusal that says so: the call is the project's, and is changed by its policy alone.
    Raises AhpError.
    """
    roots, said = _roots(event), list[str]()
    told_here = _rules(here)
    if len(roots) > _MOST:
        raise AhpError(f"this call writes into {len(roots)} repositories, more than {_MOST} at once are not judged")
    for root in roots:
        where = asking.around(root)
        if where.repo is None or where.root == event.root or not os.path.isdir(where.journal):
            continue
        there = _asked(event, where, folder, seconds)
        verdict = decide(there, judges_of(there))
        place = _place(event, there)
        if there.journal != event.journal:
            session_calls.note_judged(there, verdict)
        if verdict.modified is not None:
            verdict.decision = "deny"
        tells = verdict.denied or verdict.notes or not _rules(verdict) <= told_here
        now = [f"In {place}: {verdict_text.for_agent(verdict)}"] if tells else []
        if verdict.denied:
            return verdict, verdict_text.in_order(*now, *said)
        said += now
    return None, verdict_text.in_order(*filter(None, said))


def _place(event: Event, there: Event) -> str:
    return one_line(there.root.removeprefix(f"{event.root}/"), 100)


def _asked(event: Event, where: Workspace, folder: str, seconds: float) -> Event:
    """The same call as an event of another repository."""
    there = asking.event(event.trigger, event.host, event.actor, where, session=event.session, budget=seconds)
    there.attempt = event.attempt
    call = event.tool or {}
    given = call.get("input")
    arguments, native_name = given if isinstance(given, dict) else {}, str(call.get("native_name", ""))
    there.tool = tool_call.read("", native_name, arguments, root=where.root, folder=folder)
    there.view = call_view.view_of(there)
    return there


def _roots(event: Event) -> list[str]:
    """The tops of the other work trees that the call writes into, or runs git in.

    One that it takes away as a whole, `git worktree remove ../x`, is none: what decides in it is in the repository.
    """
    written, folders = ([_absolute(event, path) for path in paths] for paths in places.of(event))
    tops: dict[str, None] = {}
    for place in (*written, *folders):
        top = _top_of(place) if place.startswith("/") else ""
        is_whole = place.rstrip("/") == top and place in written and os.path.isfile(f"{top}/.git")
        if top and top != event.root and not is_whole:
            tops[top] = None
    return list(tops)


def _absolute(event: Event, path: str) -> str:
    home = os.path.dirname(os.path.dirname(event.user_policy))
    if home and (path + "/").startswith("~/"):
        return home + path[1:]
    return path if path.startswith(("/", "~")) else f"{event.root}/{path}"


def _rules(verdict: Verdict) -> set[str]:
    return {str(signal.context["rule"]) for signal in verdict.signals}


def _top_of(path: str) -> str:
    """The folder above `path`, or itself, that holds a `.git`; "" for none. What follows a wildcard does not count."""
    known = []
    for part in path.split("/"):
        if any(sign in part for sign in "*?["):
            break
        known.append(part)
    while len(known) > 1:
        folder = "/".join(known)
        if os.path.lexists(f"{folder}/.git"):
            return folder if os.path.isdir(folder) and not os.path.islink(folder) else ""
        known.pop()
    return ""
