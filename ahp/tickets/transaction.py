"""A step in the life of an issue as one transaction on the work tree: after a kill at any point it is undone or done.

The plan is recorded in the git directory first. Then the new text is renamed into its place, and only then the old
file is removed; `recover` finishes an interrupted step. Old text never lies in the new place.
"""

import os

from ahp.protocol.text import one_line
from ahp.system import files, jsontext
from ahp.system.digest import tagged
from ahp.system.errors import AhpError
from ahp.tickets.life import Plan

_RECORD = "/ahp-step"
_UNFINISHED = ".ahp-step"
_LIMIT = 1 << 20


def apply(plan: Plan, root: str, git_dir: str) -> None:
    """Carries out `plan` in the work tree at `root`; `git_dir` is that work tree's own.

    Raises AhpError, and then nothing has changed: also when the file is not what the plan was made from, or another
    lies in its new place.
    """
    old = f"{root}/{plan.path}"
    if os.path.islink(old):
        raise AhpError(f"{plan.path} is a symbolic link; put the ticket itself there")
    if files.read(old) != plan.before:
        raise AhpError(f"{plan.path} was changed meanwhile; run the command again")
    if not plan.changes_anything:
        return
    if plan.new_path != plan.path:
        _make_room(f"{root}/{plan.new_path}", plan.new_path)
    try:
        _carry_out(plan, root, git_dir)
    except BaseException:
        _undo(plan, root, git_dir)
        raise


def recover(root: str, git_dir: str) -> None:
    """Finishes or takes back the step that a killed process left, if there is one. Raises AhpError."""
    record = git_dir + _RECORD
    data = files.read(record, _LIMIT)
    if data is None:
        return
    old, new, before, after = _read(data)
    if new and old != new and _digest(f"{root}/{new}") == after and _digest(f"{root}/{old}") == before:
        _remove(f"{root}/{old}")
    if new:
        _remove(f"{root}/{new}{_UNFINISHED}")
    _remove(record)


def _carry_out(plan: Plan, root: str, git_dir: str) -> None:
    new = f"{root}/{plan.new_path}"
    record = {"old": plan.path, "new": plan.new_path, "before": tagged(plan.before), "after": tagged(plan.after)}
    files.replace(git_dir + _RECORD, jsontext.encode(record).encode("utf-8", "surrogateescape"))
    try:
        files.overwrite(new + _UNFINISHED, plan.after, os.stat(f"{root}/{plan.path}").st_mode & 0o777)
        os.rename(new + _UNFINISHED, new)
        if plan.new_path != plan.path:
            os.unlink(f"{root}/{plan.path}")
    except OSError as error:
        raise AhpError(f"cannot write the ticket {plan.new_path}: {error.strerror}") from None
    _remove(git_dir + _RECORD)


def _undo(plan: Plan, root: str, git_dir: str) -> None:
    """Takes back what was done of a step that failed; the old file, as long as it is there, is what counts."""
    new = f"{root}/{plan.new_path}"
    _remove(new + _UNFINISHED)
    if plan.new_path != plan.path and os.path.lexists(f"{root}/{plan.path}") and _digest(new) == tagged(plan.after):
        _remove(new)
    _remove(git_dir + _RECORD)


def _make_room(new: str, shown: str) -> None:
    """The folder that the ticket moves into; never over another file."""
    try:
        os.makedirs(os.path.dirname(new), exist_ok=True)
    except OSError as error:
        raise AhpError(f"cannot move the ticket to {shown}: {error.strerror}") from None
    if os.path.lexists(new):
        raise AhpError(f"{shown} exists already; keep one of the two tickets")


def _read(data: bytes) -> tuple[str, str, str, str]:
    """Old and new path, digests before and after; empty when the record was damaged."""
    try:
        record = jsontext.decode(data.decode("utf-8", "surrogateescape"))
    except ValueError:
        record = None
    fields = [record.get(name) for name in ("old", "new", "before", "after")] if isinstance(record, dict) else []
    texts = [field for field in fields if isinstance(field, str)]
    return (texts[0], texts[1], texts[2], texts[3]) if len(texts) == 4 else ("", "", "", "")


def _digest(path: str) -> str:
    data = None if os.path.islink(path) else files.read(path)
    return "" if data is None else tagged(data)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise AhpError(f"cannot remove {one_line(path, 500)}: {error.strerror}") from None
