"""The files that a patch changes, which `git apply`, `git am` or `patch` is about to apply, read before they run."""

from glob import glob

from ahp.agents.calls.plain_programs import is_plain
from ahp.system import files
from ahp.system.errors import AhpError
from ahp.system.patch import FILE, NOWHERE, Hunk, parts
from ahp.system.paths import real

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ahp.agents.shell.command import Command
    from ahp.agents.shell.usage import Patch

_LARGEST = 4 << 20  # bytes of a patch that is read
_MOST = 64  # patches that a pattern names
_BEGINNINGS = ("--- ", "+++ ", "@@ -", FILE, "Index:", "*** ")
_MOVES = ("rename from ", "rename to ", "copy from ", "copy to ")
# What brings the files of a work tree to another state, and none outside of it.
_IN_THE_TREE = (
    "apply",
    "am",
    "checkout",
    "switch",
    "stash",
    "pull",
    "merge",
    "rebase",
    "reset",
    "restore",
    "cherry-pick",
    "revert",
)
_LETTERS = frozenset("acd")
_BRANCH = 3  # words of `git switch -c NAME`


def read(
    command: "Command", places: "Sequence[str]", root: str, before: "Sequence[dict[str, Any]]"
) -> "tuple[list[tuple[str, str]], list[tuple[str, str]]]":
    """(folder, name) of each file that the patches of a command change, and (folder, text) of those that are not taken
    back; nothing where they cannot be told.

    `places` are where the patches lie, which may be patterns, `before` the other commands of the same call, as its
    facts have them, that may run before: one of them may write a patch.
    """
    found: list[tuple[str, str]] = []
    known: list[tuple[str, str]] = []
    for patch, place in zip(command.patches, places, strict=True):
        for text in _texts(place, root, before) or [""]:
            names = _named(text, patch, command.program == "git")
            if names is None:
                return [], []
            found += [(patch.into, name) for name in names]
            known += [] if patch.reverse else [(patch.into, text)]
    return found, known


def _texts(place: str, root: str, before: "Sequence[dict[str, Any]]") -> "list[str] | None":
    """The texts of the patches at a place; None where they cannot be told."""
    if place.startswith(("/dev/fd/", "/dev/std", "/proc/", "~")) or "**" in place:
        return None
    places = sorted(glob(place)) if any(sign in place for sign in "*?[") else [place]
    if not 0 < len(places) <= _MOST:
        return None
    found: list[str] = []
    for one in places:
        if any(_may_write(record, path, root) for record in before for path in {one, real(one)}):
            return None
        try:
            data = files.read(one, _LARGEST)
        except AhpError:
            return None
        if not data:
            return None
        found.append(data.decode("utf-8", "surrogateescape"))
    return found


def _may_write(record: "dict[str, Any]", place: str, root: str) -> bool:
    """Whether a command may have written the file when it is read."""
    program, verb = record["program"], record["verb"]
    in_the_tree = program == "git" and verb in _IN_THE_TREE
    if {"program", "path"} & set(record["unresolved_at"]) or not (in_the_tree or is_plain(program, verb)):
        return True
    applies = verb in ("apply", "am") or (verb in ("checkout", "switch") and _only_names_a_branch(record))
    if in_the_tree and not applies and (place + "/").startswith(root.rstrip("/") + "/"):
        return True
    for path in (*record["writes"], *record["may_write"]):
        whole = path if path.startswith("/") else f"{root}/{path}"
        head = whole[: min([whole.find(sign) for sign in "*?[" if sign in whole], default=len(whole))]
        if (
            place == whole
            or (place + "/").startswith(whole.rstrip("/") + "/")
            or (head != whole and place.startswith(head))
        ):
            return True
    return False


def _only_names_a_branch(record: "dict[str, Any]") -> bool:
    """`git checkout -b NAME`, `git switch -c NAME`, from where it is."""
    names = {"-b", "--create", "-c"} & set(record["flags"])
    return bool(names) and len(record["args"]) <= _BRANCH


def _named(text: str, patch: "Patch", by_git: bool) -> "list[str] | None":
    """The files that the text of a patch names; None for what is no unified diff from its beginning to its end, or
    where git and patch may read other names in it.
    """
    raw = _raw_names(text, by_git)
    if not raw:
        return None
    found: list[str] = []
    for name in raw:
        parts = [part for part in name.split("/") if part]
        count = int(patch.stripped) if patch.stripped else len(parts) - 1
        stripped = "/".join(parts[max(count - name.startswith("/"), 0) :]) if count else name
        is_whole = not patch.is_told and (not by_git or FILE not in text)  # then what is there decides
        found += [one for one in (stripped, name if is_whole else "") if one]
    return list(dict.fromkeys(found))


def _raw_names(text: str, by_git: bool) -> "list[str] | None":
    found: dict[str, None] = {}
    for part in parts(text, counted=True):
        if isinstance(part, Hunk):
            if part.wrong:
                return None
        elif (names := _header(part.rstrip("\r"))) is None or _is_of_another_kind(part.rstrip("\r"), by_git):
            return None
        else:
            found.update(dict.fromkeys(names))
    return [name for name in found if name != NOWHERE]


def _header(line: str) -> "list[str] | None":
    """The names in a line outside of hunks; None where they are quoted."""
    if line.startswith(("--- ", "+++ ")):
        rest = line[4:].split("\t")[0].strip()
        names = [rest, rest.split(" ")[0]]
    elif line.startswith(FILE):
        rest = line[len(FILE) :]
        names = [
            *rest.split(" "),
            *rest.partition(" b/")[:1],
            "b/" + rest.rpartition(" b/")[2] if " b/" in rest else "",
        ]
    elif line.startswith(_MOVES):
        name = line.partition(" ")[2].partition(" ")[2].strip()
        names = [f"a/{name}"]
        rest = name
    elif line.startswith("Index:"):
        rest = line[6:].strip()
        names = [rest]
    else:
        return []
    return None if '"' in rest else [name for name in names if name]


def _is_of_another_kind(line: str, by_git: bool) -> bool:
    """A context diff, an encoded mail; to `patch`, which knows more kinds, also an indented diff, a script for `ed`."""
    lowered = line.lower()
    if lowered.startswith("content-transfer-encoding:") and ("base64" in lowered or "quoted" in lowered):
        return True
    if line.startswith(("*** ", "***************")):
        return True
    if by_git:
        return False
    plain = line.lstrip(" \tX-")
    is_inside = plain != line and not line.startswith(_BEGINNINGS) and plain.startswith(("-- ", *_BEGINNINGS))
    letters = {char for char in line if not char.isdigit() and char != ","}
    return is_inside or (line[:1].isdigit() and len(letters) == 1 and letters <= _LETTERS)
