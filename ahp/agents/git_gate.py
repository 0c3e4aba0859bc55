"""Commits and pushes of a shell call whose git hooks do not come to ahp (design §9).

Where they do, they judge: they see what git really commits and pushes. Where they are not installed, lie elsewhere or
are switched off, what is known before the call runs is judged here, by the same rules. Of the rest the agent is told
that nothing judges it, for a wrong guess would be worse than none.
"""

import os
import shlex
import stat
from typing import Any

from ahp.agents import coming_commit, coming_push
from ahp.agents.calls.call_paths import inside
from ahp.agents.places import OTHERS
from ahp.agents.shell import commands
from ahp.hosts import verdict_text
from ahp.hosts.git.probe import obstacle
from ahp.policy.judges import judges_of
from ahp.protocol.event import Event
from ahp.protocol.text import one_line
from ahp.protocol.verdict import Verdict
from ahp.system import environ
from ahp.system.git import Repository

_HOOKS = {"commit": ("pre-commit", "commit-msg"), "push": ("pre-push",)}
_ALIASES = 5  # that lead to each other
_INSTALL = "ahp install git"


def judge(event: Event, verbs: tuple[str, ...] = ("commit", "push")) -> tuple[Verdict | None, str]:
    """The refusal of a commit or push that the call makes in the event's repository, None where none is refused; and
    what the agent is told. Only these `verbs` are looked at. Raises AhpError.
    """
    said: list[str] = []
    calls = _calls(event)
    for number, call in enumerate(calls):
        hooks = _HOOKS.get(call["verb"] if call["program"] == "git" else "", ())
        if (
            not hooks
            or call["verb"] not in verbs
            or "--dry-run" in call["flags"]
            or not _is_here(event, call)
            or not _is_ruled(event, hooks)
        ):
            continue
        missed = _missed(event, call, hooks[0])
        if not missed:
            continue
        refusal, told = _judged(event, call, calls[:number], missed)
        if refusal is not None:
            return refusal, verdict_text.in_order(*told[-1:], *said, *told[:-1])
        said += told
    return None, verdict_text.in_order(*dict.fromkeys(said))


def _judged(
    event: Event, call: dict[str, Any], before: list[dict[str, Any]], missed: str
) -> tuple[Verdict | None, list[str]]:
    verb = call["verb"]
    if verb == "commit":
        verdicts, unknown = coming_commit.verdicts(event, call, before)
    else:
        verdicts, unknown = coming_push.verdicts(event, call, before)
    told = []
    for verdict in verdicts:
        if verdict.modified is not None:  # the call is a shell's: what it commits is not ours to change
            verdict.decision = "deny"
        if verdict.signals or verdict.notes:
            told.append(verdict_text.for_agent(verdict))
        if verdict.denied:
            return verdict, told
    if unknown:
        told.append(f"ahp: nothing judges this {verb}: {missed}, and {unknown}; {_fix(missed, verb)}")
    return None, told


def _fix(missed: str, verb: str) -> str:
    if missed.startswith("its "):
        return f"leave that out, and the hooks judge the {verb}"
    return f"so that the hooks judge: {_INSTALL}"


def _calls(event: Event) -> list[dict[str, Any]]:
    """The commands of the call, aliases of git's configuration taken apart."""
    found = (event.tool or {}).get("commands")
    calls = list(found) if isinstance(found, list) else []
    for _ in range(_ALIASES):
        opened = [(one, _aliased(event, one)) for one in calls]
        if not any(inner for _, inner in opened):
            break
        calls = [call for one, inner in opened for call in (inner or [one])]
    return calls


def _aliased(event: Event, call: dict[str, Any]) -> list[dict[str, Any]]:
    """What an alias stands for, [] where the command is none."""
    verb = call["verb"]
    if call["program"] != "git" or not verb or verb in OTHERS or verb in _HOOKS:
        return []
    if event.repo is None or verb not in call["args"]:
        return []
    value = event.repo.line("config", "--get", f"alias.{verb}", ok=(0, 1))
    if not value:
        return []
    at = call["args"].index(verb)
    rest = shlex.join(call["args"][at + 1 :])
    before = "" if value.startswith("!") else f"git {shlex.join(call['args'][:at])} "
    records: list[dict[str, Any]] = [one.as_fact() for one in commands.read(f"{before}{value.lstrip('!')} {rest}")]
    for one in records:
        one["folder"] = one["folder"] or call["folder"]
        one["unresolved_at"] = [*one["unresolved_at"], *call["unresolved_at"]]
    return records


def _is_here(event: Event, call: dict[str, Any]) -> bool:
    """Whether git runs in this work tree, and not in another below or beside it."""
    place = inside(call["folder"] or ".", event.root, str((event.tool or {}).get("folder", "")))
    if event.repo is None or place.startswith(("/", "~", "..")) or "**" in place:
        return False
    return place == "." or top_of(f"{event.root}/{place}") == event.root


def _is_ruled(event: Event, hooks: tuple[str, ...]) -> bool:
    """Whether any rule speaks there; of a push also those of its commits, and of the policy of where it goes."""
    if hooks == _HOOKS["push"]:
        hooks = (*hooks, *_HOOKS["commit"])
    asked = [event.but(trigger=hook, view=None, tool=None) for hook in hooks]
    return any(judge.program.rules for one in asked for judge in judges_of(one))


def _missed(event: Event, call: dict[str, Any], hook: str) -> str:
    """Why git does not come to our hook, "" where it does as far as can be seen."""
    if "--no-verify" in call["flags"]:
        return "its --no-verify keeps git from the hooks"
    if any(setting.startswith("core.hookspath=") for setting in call["config"]):
        return "its core.hooksPath keeps git from the hooks"
    for one in call["assignments"]:
        if one.startswith(("HUSKY=0", "LEFTHOOK=0")):
            return f"its {one.partition('=')[0]} switches the hooks off"
    repo = event.repo
    assert repo is not None
    # With the variables that the agent's git will have: they may name another folder of hooks.
    env = {**environ.current(), "GIT_DIR": repo.git_dir, "GIT_WORK_TREE": repo.root}
    found = obstacle(Repository(repo.root, repo.git_dir, repo.common_dir, env, repo.git), hook)
    return f"git does not come to ahp ({one_line(found, 200)})" if found else ""


def top_of(path: str) -> str:
    """The folder above `path`, or itself, that holds a `.git`; "" for none. What follows a wildcard does not count."""
    known = []
    for part in path.split("/"):
        if any(sign in part for sign in "*?["):
            break
        known.append(part)
    while len(known) > 1:
        folder = "/".join(known)
        try:
            os.lstat(f"{folder}/.git")
            return folder if stat.S_ISDIR(os.lstat(folder).st_mode) else ""
        except OSError:
            known.pop()
    return ""
