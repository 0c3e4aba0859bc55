"""What a `git commit` in a shell call will commit, as far as it is known before the call runs, and its verdicts."""

import os
import shutil
import tempfile
from typing import Any

from ahp.agents.calls.call_paths import inside
from ahp.gate.decide import decide
from ahp.hosts import asking
from ahp.policy.judges import judges_of
from ahp.protocol.event import Event
from ahp.protocol.text import one_line
from ahp.protocol.verdict import Verdict
from ahp.shell import git as git_commands
from ahp.system import files
from ahp.system.git import GitError, Repository
from ahp.system.view import IndexView

# Options with which what is committed is still what is staged, or all tracked files.
_OPTIONS = """
  -m --message -F --file -q --quiet -s --signoff -n --no-verify --verify -a --all -v --verbose --allow-empty -e --edit
  --allow-empty-message --amend --no-edit -S --gpg-sign --no-gpg-sign --author --date --cleanup --trailer --status
  --no-status -C -c --reuse-message --reedit-message --fixup --squash --reset-author
"""
_KNOWN = frozenset(_OPTIONS.split())
_ADDS = frozenset(("-A", "--all", "-u", "--update", "-v", "--verbose", "-f", "--force", "-C", "-c"))
_READS = ("status", "diff", "log", "show", "rev-parse", "ls-files", "branch", "remote", "config", "describe", "blame")
_LIMIT = 1 << 20


def verdicts(event: Event, call: dict[str, Any], before: list[dict[str, Any]]) -> tuple[list[Verdict], str]:
    """The verdicts on content and message of the commit that `call` makes after the commands `before` it; and what of
    it is not known, "" where all is. Raises AhpError.
    """
    repo = event.repo
    assert repo is not None
    if why := _unknown_content(call, before):
        return [], why
    with tempfile.TemporaryDirectory(prefix="ahp-index-", dir=repo.git_dir) as folder:
        try:
            staged = _staged(event, repo, folder, call, before)
        except GitError as error:
            return [], f"what it commits cannot be told ({one_line(error, 200)})"
        content = event.but(trigger="pre-commit", view=IndexView(staged), tool=None)
        done = []
        for part in asking.of_content(content):
            done.append(decide(part))
            if done[-1].denied:
                return done, ""
        view = IndexView(staged)
        about = event.but(trigger="commit-msg", view=view.amended() if "--amend" in call["flags"] else view, tool=None)
        judges = judges_of(about)
        if not any(judge.program.rules for judge in judges):
            return done, ""
        message = _message(event, call)
        if message is None:
            return done, "its message is known only when it runs"
        about.draft, about.cleanup = message
        return [*done, decide(about, judges)], ""


def _unknown_content(call: dict[str, Any], before: list[dict[str, Any]]) -> str:
    if call["unresolved_at"] and call["unresolved_at"] != ["value"]:
        return "what it commits is known only when it runs"
    if odd := [flag for flag in call["flags"] if flag not in _KNOWN]:
        return f"what {odd[0]} commits is known only when it runs"
    for one in before:
        if not _is_followed(one):
            name = " ".join([one["program"] or "a command", one["verb"]]).strip()
            return f"{one_line(name, 60)} before it may change what is committed"
    return ""


def _is_followed(one: dict[str, Any]) -> bool:
    """Whether what a command leaves for the commit is known: nothing, or what `git add` of these files stages."""
    if one["program"] != "git":
        return not (one["writes"] or one["may_write"] or one["unresolved_at"])
    if one["verb"] != "add":
        return one["verb"] in _READS and not one["writes"]
    patterns = any(sign in word for word in one["operands"] for sign in "*?[")
    return not one["unresolved"] and not patterns and _ADDS.issuperset(one["flags"])


def _staged(
    event: Event, repo: Repository, folder: str, call: dict[str, Any], before: list[dict[str, Any]]
) -> Repository:
    """The repository with an index as the commit will have it. Raises GitError."""
    if os.path.exists(f"{repo.git_dir}/index"):
        shutil.copyfile(f"{repo.git_dir}/index", f"{folder}/index")
    env = {**repo.env, "GIT_INDEX_FILE": f"{folder}/index"}

    def there(place: str) -> Repository:
        return Repository(repo.root, repo.git_dir, repo.common_dir, env, repo.git, place)

    for one in before:
        if one["program"] == "git" and one["verb"] == "add":
            there(_folder(event, one)).run("add", *one["args"][one["args"].index("add") + 1 :])
    if call["operands"]:
        if head := repo.head_id():
            there(repo.root).run("read-tree", head)
        there(_folder(event, call)).run("add", "-u", "--", *call["operands"])
    elif "--all" in call["flags"]:
        there(repo.root).run("add", "-u")
    return there(repo.root)


def _folder(event: Event, call: dict[str, Any]) -> str:
    return f"{event.root}/{inside(call['folder'] or '.', event.root, str((event.tool or {}).get('folder', '')))}"


def _message(event: Event, call: dict[str, Any]) -> tuple[bytes, str] | None:
    """The message that the options name, and how git is told to clean it; None where they name none."""
    if call["unresolved"]:
        return None
    values = git_commands.read(call["args"]).values
    cleanup = next((value for option, value in reversed(values) if option == "--cleanup"), "")
    parts = [value for option, value in values if option == "--message"]
    if parts:
        return "\n\n".join(parts).encode("utf-8", "surrogateescape"), cleanup
    named = [value for option, value in values if option == "--file"]
    if not named:
        return None
    if named[-1] == "-":
        return (call["stdin"].encode("utf-8", "surrogateescape"), cleanup) if call["stdin"] else None
    data = files.read(os.path.join(_folder(event, call), named[-1]), _LIMIT)
    return (data, cleanup) if data is not None else None
