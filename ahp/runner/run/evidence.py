"""Done is evidence: what a run has changed and verified, beside what its plan expects and its model claims."""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ahp.runner.run.prompts import files_named
from ahp.runner.verification.project import DERIVED, Snapshot, changed_since, differing, view_of

# `src/app.py`, `a.txt`: not the end of an address, nor `e.g.`.
_FILE = re.compile(r"(?<![\w/.@:-])(?:[\w.-]{1,100}/)*[\w-]{1,100}\.[A-Za-z][A-Za-z0-9]{0,9}(?![\w/])")
_QUESTION = ("?", "？")
_MOST_NAMES = 50


@dataclass(frozen=True)
class Given:
    """The answer that a model gave: in words, or `typed`, with what it says it `changed` (null: none was asked for)."""

    text: str
    typed: bool = False
    changed: Sequence[str] | None = ()
    unsure: str = ""


def changed_in(first: Snapshot | None, root: str) -> list[str] | None:
    """The files that hold something else than at `first`, in order; None where git cannot tell."""
    changed = None if first is None else changed_since(root, first)
    return None if changed is None else _ours(changed)


def differs(former: Snapshot, now: Snapshot) -> bool:
    """Whether somebody's work lies between two snapshots."""
    return former.base != now.base or bool(_ours(differing(former, now)))


def _ours(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if not path.endswith(DERIVED)]


def uncovered(
    given: Given, task: str, changed: Sequence[str] | None, root: str, *, wrote: bool, expects: bool
) -> str | None:
    """Why an answer is not covered by what has changed, as a sentence; None where it is, or asks for no change.

    `wrote` says whether anything was written at all, `expects` whether the plan expects it.
    A model that only talks is doubted where the task is no question and it or the task names a file.
    """
    named = (path.strip().rstrip("/") for path in given.changed or ())
    claimed = [os.path.relpath(os.path.join(root, path), root) for path in named if path]
    if given.typed and changed is not None:
        # A folder has changed where something in it has.
        missing = [path for path in claimed if not any(f"{one}/".startswith(f"{path}/") for one in changed)]
        missing = [path for path in missing if not _ignored(root, path)]
        if missing:
            return f"The answer says that {files_named(missing)} changed, and nothing in there has"
    if wrote or (given.typed and given.changed is None):
        return None
    if expects or claimed or _names_a_file(task, given.text, root):
        return "Nothing in the project has changed"
    return None


def _ignored(root: str, path: str) -> bool:
    """Whether git does not look at a path: what is there cannot be told to have changed."""
    asked = ("--literal-pathspecs", "ls-files", "--others", "--ignored", "--exclude-standard", "--", path)
    view = view_of(root)
    return view is not None and bool(view.repo.line(*asked, ok=(0, 1, 128)))


def asks(task: str) -> bool:
    """Whether a task is a question."""
    return task.rstrip().endswith(_QUESTION)


def _names_a_file(task: str, text: str, root: str) -> bool:
    if asks(task):
        return False
    named = [found[0] for found in _FILE.finditer(task)][:_MOST_NAMES]
    if any(len(name.rpartition(".")[2]) > 1 for name in named):
        return True
    named += [found[0] for found in _FILE.finditer(text)][:_MOST_NAMES]
    return any(os.path.exists(os.path.join(root, name)) for name in named)
