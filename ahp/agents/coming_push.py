"""What a `git push` in a shell call will send, as far as it is known before the call runs, and its verdicts.

What the remote has is known as it was last fetched; git's own hook would be told it by the remote.
"""

from typing import Any

from ahp.hosts.git import pre_push
from ahp.hosts.git.asked_push import AskedPush
from ahp.protocol.event import Event, PushRef
from ahp.protocol.text import one_line
from ahp.protocol.verdict import Verdict
from ahp.system.git import Repository

_OPTIONS = """
  -u --set-upstream -q --quiet -v --verbose -f --force --force-with-lease --force-if-includes --progress --no-progress
  --porcelain --no-verify --verify -o --push-option --atomic --thin --no-thin -4 -6 --ipv4 --ipv6 -C -c
"""
_KNOWN = frozenset(_OPTIONS.split())
_READS = ("status", "diff", "log", "show", "rev-parse", "ls-files", "remote", "config", "describe", "blame", "add")
_HEADS = "refs/heads/"


def verdicts(event: Event, call: dict[str, Any], before: list[dict[str, Any]]) -> tuple[list[Verdict], str]:
    """The verdicts on each ref that `call` moves after the commands `before` it; and what of it is not known, "" where
    all is. Raises AhpError.
    """
    repo = event.repo
    assert repo is not None
    for one in before:
        if (one["program"] == "git" and one["verb"] not in _READS) or "program" in one["unresolved_at"]:
            name = " ".join([one["program"] or "a command", one["verb"]]).strip()
            return [], f"{one_line(name, 60)} before it may change what is pushed"
    if call["unresolved"]:
        return [], "what it pushes is known only when it runs"
    if odd := [flag for flag in call["flags"] if flag not in _KNOWN]:
        return [], f"what {odd[0]} pushes is known only when it runs"
    remote = call["operands"][0] if call["operands"] else _own_remote(repo)
    refs = [_named(repo, remote, spec) for spec in call["operands"][1:]] or [_own(repo, remote)]
    known = [ref for ref in refs if ref is not None]
    if len(known) < len(refs):
        return [], "which refs it pushes is known only when it runs"
    hook = AskedPush(event, remote)
    done: list[Verdict] = []
    for verdict in pre_push.judge_refs(hook, known, remote):
        done.append(verdict)
        if verdict.denied:
            break
    return done, ""


def _own_remote(repo: Repository) -> str:
    """The remote that `git push` takes where none is named (git-push(1))."""
    branch = repo.branch()
    keys = (f"branch.{branch}.pushRemote", "remote.pushDefault", f"branch.{branch}.remote")
    return next((value for key in keys if (value := repo.line("config", "--get", key, ok=(0, 1)))), "origin")


def _own(repo: Repository, remote: str) -> PushRef | None:
    """What is pushed where no ref is named; None where the configuration has its own way."""
    way = repo.line("config", "--get", "push.default", ok=(0, 1)) or "simple"
    branch = repo.branch()
    if not branch or way not in ("simple", "current", "upstream"):
        return None
    if repo.line("config", "--get-all", f"remote.{remote}.push", ok=(0, 1)):
        return None
    there = _HEADS + branch
    if way == "upstream":
        there = repo.line("config", "--get", f"branch.{branch}.merge", ok=(0, 1)) or there
    return _moved(repo, remote, _HEADS + branch, there)


def _named(repo: Repository, remote: str, spec: str) -> PushRef | None:
    """The ref that a refspec moves; None where git would find out in a way of its own."""
    source, colon, there = spec.removeprefix("+").partition(":")
    if source.startswith("-"):  # no ref is called so, and git would read an option
        return None
    whole = repo.line("rev-parse", "-q", "--verify", "--symbolic-full-name", source, ok=(0, 1, 128)) if source else ""
    if source == "HEAD":
        whole = _HEADS + repo.branch() if repo.branch() else ""
    there = there or ("" if colon else whole)
    if there and not there.startswith("refs/"):
        if source and not whole.startswith(_HEADS):
            return None
        there = _HEADS + there
    if not there or "*" in spec:
        return None
    return _moved(repo, remote, whole or source, there) if source else _moved(repo, remote, "(delete)", there)


def _moved(repo: Repository, remote: str, here: str, there: str) -> PushRef | None:
    """The line that git would give its hook, with the remote as it was last fetched."""
    known = repo.commit_id(f"refs/remotes/{remote}/{there.removeprefix(_HEADS)}") if there.startswith(_HEADS) else None
    tip = repo.line("rev-parse", "-q", "--verify", "--end-of-options", here, ok=(0, 1, 128))
    zero = "0" * len(known or tip or "0" * 40)
    if here == "(delete)":
        return PushRef(here, zero, there, known or zero)
    return PushRef(here, tip, there, known or zero) if tip else None
