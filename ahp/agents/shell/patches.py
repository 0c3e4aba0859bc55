"""`patch`, `git apply` and `git am`: which files they write stands in a patch.

That is a text of the script, a file that can be read before (`Patch`), or what git itself compares.
"""

from ahp.agents.shell import marks, roles
from ahp.agents.shell.marks import Marks, Unknown
from ahp.agents.shell.usage import Patch, Run, Usage, is_file
from ahp.system.regex import regex

_ONLY_TELLS = {
    *("--stat", "--numstat", "--summary", "--check", "--abort", "--quit", "--skip", "--continue", "--resolved"),
    *("--show-current-patch", "--dry-run"),
}
# What `git diff`, `git show` and `git stash show` print with these is a patch of files under their own names.
_PLAIN_OPTION = regex(
    r"-[puwbRMC0-9]|-U[0-9]+|--(?:cached|staged|binary|patch|full-index|no-color|stdout|no-ext-diff|merge-base|root)"
)
_COMPARES = ("diff", "show", "stash", "format-patch")


def patch(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`patch [FILE [PATCH]]`."""
    found = roles.read(program, args, stdin, known)
    values = dict(found.values)
    if "--dry-run" in found.flags:
        found.writes = []
    elif stdin is not None and marks.is_known(stdin) and "--input" not in values:
        found.runs.append(Run(code=stdin, language="patch"))
    elif not found.writes:
        _take(found, [value for name, value in found.values if name == "--input"], stdin, known, "--strip", "")
    return found


def of_git(found: Usage, stdin: str | None, known: Marks) -> None:
    """`git apply`, `git am`."""
    if _ONLY_TELLS & set(found.flags):
        return
    if not found.operands and stdin is not None and marks.is_known(stdin):
        found.runs.append(Run(code=stdin, language="git"))
    elif found.operands or not found.writes or stdin in known.opened:
        _take(found, found.operands, stdin, known, "-p", "1")


def _take(found: Usage, files: list[str], stdin: str | None, known: Marks, option: str, usual: str) -> None:
    """Takes what the patches name; `option` says how many parts of the names are left out."""
    values = dict(found.values)
    stripped = values.get(option, usual)
    opened, compared = known.opened.get(stdin or ""), known.compared.get(stdin or "")
    language = "git" if usual else "patch"
    if not all(map(is_file, files)) or not (stripped.isdigit() or stripped == usual):
        _unknown(found, known)
    elif files or opened:
        into = values.get("--directory", "") if usual else ""
        reverse = bool({"-R", "--reverse"} & set(found.flags))
        for file in files or opened or ():
            found.patches.append(Patch(file, not files, into, stripped, option in values, reverse))
            found.runs += [Run(file=file, language=language)] if files else []
    elif compared is not None and stripped == "1" and not found.folder:
        found.writes += compared
    else:
        _unknown(found, known)


def _unknown(found: Usage, known: Marks) -> None:
    found.writes.append(known.mark(Unknown("patch")))
    found.unknown("path")


def compared(args: list[str]) -> tuple[str, ...] | None:
    """The files of a patch that git prints, as they are named to it; None for what is no such patch.

    Without names it is about the tree as a whole, like `git reset`.
    """
    verb, words = args[:1], args[1:]
    if verb == ["stash"] and words[:1] == ["show"] and "-p" in words:
        words = words[1:]
    elif (
        not verb
        or verb[0] not in _COMPARES
        or verb == ["stash"]
        or (verb == ["format-patch"] and "--stdout" not in words)
    ):
        return None
    at = words.index("--") if "--" in words else len(words)
    options = [word for word in words[:at] if word.startswith("-")]
    if not all(map(_PLAIN_OPTION.fullmatch, options)) or not all(map(marks.is_known, words)):
        return None
    names = words[at + 1 :] or [word for word in words if not word.startswith("-")]
    if any(name.startswith(":") for name in names):
        return None
    return tuple(dict.fromkeys(part for name in names for part in (name, name.partition(":")[2]) if part))
