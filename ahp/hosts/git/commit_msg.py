"""commit-msg: judge the message with the change it describes, and rewrite it where a rule says so.  [light]"""

import time

from ahp.gate import overrides
from ahp.gate.decide import decide
from ahp.hosts.git import token
from ahp.hosts.git.githooks import CONTENT, Hook, say
from ahp.hosts.git.pre_commit import judge_staged
from ahp.protocol.event import Event
from ahp.protocol.text import one_line
from ahp.system import environ, files
from ahp.system.errors import AhpError
from ahp.system.view import IndexView

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.shell.git import GitCommand

_LIMIT = 16 << 20
_LOOKS = 20


def judge(hook: Hook) -> int:
    """The hook's exit code. The message file is rewritten only when the commit goes on.

    The content is judged first, where the log does not tell that pre-commit let it pass.
    """
    listed, change, tree = hook.staged()
    view = IndexView(hook.repo, change, tree=tree)
    path = hook.arguments[0] if hook.arguments else ""
    draft = files.read(path, _LIMIT) if path else None
    for _ in range(_LOOKS if hook.repo.env.get("GIT_EDITOR") == ":" else 0):
        if draft != b"":
            break
        # Two commits in one work tree share the file: the other one may just be writing it.
        time.sleep(0.005)
        draft = files.read(path, _LIMIT)
    if draft is None:
        raise AhpError("git named no message file; is this hook called by git?")
    words = environ.arguments(int(hook.parent))
    if unknown := overrides.unknown(hook.repo.ahp_dir, draft):
        return _refuse(hook, unknown, path, words)
    left = token.find(hook.repo, hook.parent)
    asked = left.deferred if left is not None and left.deferred in CONTENT else _content_hook(words)
    content = hook.event(view.whole() if asked == "pre-merge-commit" else view, asked)
    content.listed = listed
    if code := judge_staged(hook, content, message_follows=False, left=left):
        return code
    about = view.amended() if _amends(words) else view
    event = hook.event(about)
    event.draft, event.listed, event.cleanup = draft, listed, _cleanup(words, hook.repo.env)
    if _says_nothing(draft) and _git_ends_it(hook, event, words):
        return 0
    verdict = decide(event)
    code = say(hook, verdict)
    if code:
        token.withdraw(hook.repo)
        _tell_where_it_is(hook, path, words)
        return code
    final = verdict.modified.draft if verdict.modified is not None else draft
    assert final is not None
    for trailer in overrides.trailers(event, view, view.whole()):
        once = ("--if-exists", "addIfDifferent")
        final = hook.repo.run("interpret-trailers", *once, "--trailer", trailer, stdin=final)
    if final != draft:
        files.replace(path, final, 0o644)
    return 0


def _content_hook(words: list[str]) -> str:
    """The hook that git asks about the content before this one (githooks)."""
    return "pre-merge-commit" if "merge" in words and "commit" not in words else "pre-commit"


def _amends(words: list[str]) -> bool:
    """Whether git's command line, `words`, tells that the commit takes the place of HEAD.

    Its message then stands for all that HEAD and the index bring. A rebase amends what it has picked in the same way.
    """
    if "commit" not in words or not any(word.startswith("--am") for word in words):
        return False
    from ahp.shell import git as git_commands

    return "--amend" in git_commands.read(words[1:]).flags


def _tell_where_it_is(hook: Hook, path: str, words: list[str]) -> None:
    """Tells a person who typed the message in an editor that it is not lost; else git says `GIT_EDITOR=:`."""
    env = hook.repo.env
    if hook.actor.kind != "human" or env.get("GIT_EDITOR") == ":":
        return
    import os
    import shlex

    from ahp.hosts.verdict_text import translated, write

    # git starts hooks at the top; a command that the person types is read from where they are.
    kept = one_line(shlex.quote(os.path.abspath(path) if env.get("GIT_PREFIX") else path), 1000)
    amends = "--amend " if _amends(words) else ""
    said = f"  your message is kept: git commit {amends}-eF {kept}, with the other options as before"
    write(translated(said, hook.actor, env))


def _refuse(hook: Hook, unknown: list[str], path: str, words: list[str]) -> int:
    """Only what a person has allowed here may stand in a message as an override: others read it as one."""
    from ahp.hosts.verdict_text import translated, write

    token.withdraw(hook.repo)
    said = f"ahp: commit refused: the message claims an override that nobody gave: {one_line(unknown[0])}"
    fix = "  - take that line out of the message; ahp writes it where a person has let a rule pass"
    write(translated(f"{said}\n{fix}", hook.actor, hook.repo.env))
    _tell_where_it_is(hook, path, words)
    return 1


def _says_nothing(draft: bytes) -> bool:
    """Whether, at first sight, no line is text in any language, up to the mark above what `commit --verbose` shows."""
    for line in draft.split(b"\n"):
        if b" >8 -" in line:
            break
        if (line[:1].isalnum() or line[:1] > b"\x7f") and not line.startswith(b"Signed-off-by: "):
            return False
    return True


def _git_ends_it(hook: Hook, event: Event, words: list[str]) -> bool:
    """Whether git will make no commit, as somebody who changes their mind leaves the message empty: nothing is judged.

    `words` are git's command line. Should it make one after all, post-commit looks at it.
    """
    if not {"commit", "merge"}.intersection(words) or any(word.startswith("--allow-empty-") for word in words):
        return False
    from ahp.facts import commit

    if not commit.is_empty(event, hook.repo):
        return False
    token.withdraw(hook.repo)
    return True


def _cleanup(words: list[str], env: dict[str, str]) -> str:
    """How git cleans the message, as far as its own command line, `words`, says: the mode that it names, `edited` where
    it opens an editor though `env` names one that does nothing, else "".

    git tells no hook: without this, what is judged would not be what is stored.
    """
    names_mode = any(word.startswith("--c") for word in words)  # `--cleanup` or a beginning of it
    if not names_mode and (env.get("GIT_EDITOR") != ":" or not _may_edit(words)):
        return ""
    from ahp.shell import git as git_commands

    told = git_commands.read(words[1:])
    named = [value for option, value in told.values if option == "--cleanup"]
    return named[-1] if named else "edited" if _edits(told) else ""


def _may_edit(words: list[str]) -> bool:
    """Whether, at first sight, the command line asks for an editor, or names no message."""
    options = [word for word in words if word[:1] == "-"]
    letters = {letter for word in options if word[1:2] != "-" for letter in word}
    long = ("--m", "--fil", "--reu", "--fix", "--no-e")
    is_told = bool(letters & set("mFC")) or any(word.startswith(long) for word in options)
    return "e" in letters or any(word.startswith("--e") for word in options) or ("commit" in words and not is_told)


def _edits(told: "GitCommand") -> bool:
    """Whether `git commit` or `git merge` opens an editor (git-commit, --edit)."""
    asked = [flag for flag in told.flags if flag in ("--edit", "--no-edit")]
    if asked or told.verb != "commit":
        return asked[-1:] == ["--edit"]
    fixups = [value for option, value in told.values if option == "--fixup"]
    if fixups:
        return fixups[-1].startswith(("amend:", "reword:"))
    return not any(option in ("--message", "--file", "--reuse-message") for option, _ in told.values)
