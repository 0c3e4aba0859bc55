"""The state of the files before and after a tool call, as far as the call tells it (design §1, §6, §13).  [light]

It reads tool calls for the namespace `tool`, which is in core (`ahp.facts.tool`).
"""

import sys

from ahp.agents.calls import call_edits, tool_call
from ahp.agents.calls import protected as protected_files
from ahp.agents.calls.call_paths import in_checkout, inside, place_of
from ahp.facts import tool
from ahp.facts.tool import WRITING
from ahp.journal import session_calls
from ahp.protocol.triggers import TRIGGERS
from ahp.system import clock, digest, encoding, files
from ahp.system.change import FILE, Change, FileChange
from ahp.system.errors import AhpError
from ahp.system.patch import encoded, lines_of, regions, unified
from ahp.system.paths import real
from ahp.system.view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ahp.agents.calls.call_edits import Edit
    from ahp.protocol.event import Event

_LIMIT = 8 << 20  # bytes of a file that is read; of a larger one only the edit itself is known


class _File:
    """One file that the call changes: its text before and after (None where it is not there).

    `pieces` are (old, new) texts whose place in the file is not known; `why` says why there may be more that is not
    known, "" where all is.
    """

    __slots__ = ("after", "before", "is_binary", "path", "pieces", "why")

    def __init__(self, path: str, before: "str | None") -> None:
        self.path, self.before, self.after = path, before, before
        self.pieces: list[tuple[str, str]] = []
        self.why = ""
        self.is_binary = before is not None and not _is_text(before)

    def diff(self) -> bytes:
        if self.is_binary:
            return b""
        return unified(self.path, self.before or "", self.after or "") + b"".join(
            [unified(self.path, old, new) for old, new in self.pieces]
        )

    def entry(self) -> FileChange:
        """The file as an entry of a change; git has no object of it yet."""
        was, stays = self.before is not None, self.after is not None
        made = FileChange(
            self.path,
            "M" if was and stays else "D" if was else "A",
            FILE if was else 0,
            FILE if stays else 0,
            "0" * 40,
            "0" * 40,
        )
        made.content = digest.sha256(encoded(self.after or ""))[:40] if stays else ""
        if not self.is_binary:
            made.insertions, made.deletions = self._counts()
        return made

    def _counts(self) -> tuple[int, int]:
        texts = [(self.before or "", self.after or ""), *self.pieces]
        found = [region for old, new in texts for region in regions(lines_of(old), lines_of(new))]
        return sum([new[3] - new[2] for new in found]), sum([old[1] - old[0] for old in found])


class CallView(View):
    """What a tool call makes of the files, against what they are; afterwards, what it has made of them.

    Where some of the files are known, they are told, though there may be more; and so are the lines.
    """

    __slots__ = ("_call", "_event", "_files", "_unknown", "_unread")
    kind = "call"

    def __init__(self, event: "Event", call: dict[str, object]) -> None:
        super().__init__(event.repo)  # type: ignore[arg-type]  # outside a repository there is none to ask
        self._event, self._call = event, call
        self._files: dict[str, _File] | None = None
        self._unknown = self._unread = ""

    @property
    def files(self) -> dict[str, _File]:
        """The files by path, worked out once."""
        if self._files is None:
            self._files = {}
            edits = call_edits.of(self._call)
            if edits.unknown and not edits.by_path:
                self._unknown = edits.unknown
            for named, found in edits.by_path.items():
                path, place = self._place(named, any(edit.kind == "delete" for edit in found))
                self._files[path] = _changed(path, place, found, TRIGGERS[self._event.trigger].post)
            whys = [file.why for file in self._files.values() if file.why]
            self._unread = next(iter(whys), "") or edits.unknown
        return self._files

    def doubt(self, contents: bool) -> str:
        """Why the files, or with `contents` what is in them, cannot be told; "" where they can."""
        self.files  # noqa: B018  # works it out
        return self._unknown or (self._unread if contents else "")

    def digests(self) -> dict[str, str]:
        """A digest of what each file holds after the call, where that is known; none of what it deletes."""
        known = {path: file.after for path, file in self.files.items() if not (file.why or file.pieces)}
        return {path: digest.sha256(encoded(text))[:16] for path, text in known.items() if text is not None}

    def base(self) -> str:
        if self.repo is None:
            raise AhpError("outside a repository there is no commit to compare with")
        return self.repo.commit_id("HEAD") or self.repo.empty_tree()

    def paths(self) -> list[str]:
        known = dict.fromkeys(_tracked(self))
        for path, file in self.files.items():
            if file.after is None:
                known.pop(path, None)
            else:
                known[path] = None
        return list(known)

    def read(self, path: str) -> bytes | None:
        file = self.files.get(path)
        if file is not None and not file.why and not file.pieces:
            return None if file.after is None else encoded(file.after)
        return files.read(place_of(path, self._event.checkout or self._event.root), 64 << 20)

    def before(self, entry: FileChange) -> bytes:
        return encoded(self.files[entry.path].before or "")

    def mode(self, path: str) -> int:
        return super().mode(path) if self.repo is not None else 0

    def unsure(self, path: str) -> str:
        file = self.files.get(path)
        if file is None:
            return ""  # what the call does not name
        return file.why or ("the text that the call replaces is not in the file as it stands" if file.pieces else "")

    def encodings(self) -> dict[str, str]:
        return {}  # what a call says is read as UTF-8, or not at all

    def diff(self) -> bytes:
        return b"".join([file.diff() for file in self.files.values()])

    def _read_change(self) -> Change:
        change = Change([file.entry() for file in self.files.values()])
        # What tells this call from another is what it was told to do: most calls change no file.
        told = [self._call.get("native_name"), self._call.get("input")]
        change.identify(encoded(repr(told)))
        return change

    def _place(self, path: str, is_link: bool) -> tuple[str, str]:
        """A path as the facts have it, and where on the disk it leads; of what is deleted, the link itself."""
        root = self._event.root
        place = place_of(path, root, str(self._call.get("folder", "")))
        if self._event.checkout:
            place, root = in_checkout(place, root, self._event.checkout), self._event.checkout
        if not is_link:
            place = real(place)
        return inside(place, real(root) if not is_link else root), place


def view_of(event: "Event") -> "CallView | None":
    """The view of the event's tool call; None where it has none."""
    return CallView(event, event.tool) if event.tool is not None else None


def _is_text(text: str) -> bool:
    return encoding.of(encoded(text[: encoding.LOOKED_AT])) == "utf-8"


def _tracked(view: CallView) -> list[str]:
    if view.repo is None:
        return []
    from ahp.system.worktree import WorkTreeView

    return WorkTreeView(view.repo).paths()


def _changed(path: str, place: str, edits: "list[Edit]", is_past: bool) -> _File:
    """The file after its edits; of a past call, before them."""
    try:
        data = files.read(place, _LIMIT)
        why = ""
    except AhpError as error:  # a folder, a device, too large: the call may still fail on it, or not
        data, why = None, str(error)
    file = _File(path, None if data is None else data.decode("utf-8", "surrogateescape"))
    if why:
        file.before = file.after = ""  # it is there
    if is_past:
        _undo(file, edits)
    else:
        for edit in edits:
            _apply(file, edit, bool(why))
    if why and not any(edit.kind == "write" for edit in edits):
        file.why = file.why or why
    return file


def _apply(file: _File, edit: "Edit", unread: bool) -> None:
    text, kind = file.after or "", edit.kind
    if kind == "write":
        file.after, file.why, file.pieces = edit.new, "", []
        file.is_binary = not _is_text(edit.new)
    elif kind == "delete":
        file.after = None
    elif kind == "append":
        file.after = text + edit.new
    elif kind == "insert":
        lines = text.split("\n")
        added = edit.new[:-1] if edit.new.endswith("\n") else edit.new
        file.after = "\n".join([*lines[: edit.line], added, *lines[edit.line :]])
    elif kind == "replace" and not unread and (edit.old or not text) and edit.old in text:
        file.after = text.replace(edit.old, edit.new, -1 if edit.every else 1)
    elif kind == "unknown":
        file.after = text
        file.why = "what it writes there is known only when it runs"
    else:  # a cell, or a text that is not found as it stands: the tool may be less exact than we are
        file.after = text
        file.pieces.append((edit.old, edit.new))


def _undo(file: _File, edits: "list[Edit]") -> None:
    """What the file was before edits that are done; where that is gone, only what it is now is known."""
    for edit in reversed(edits):
        text = file.before or ""
        if edit.kind == "replace" and edit.new and edit.new in text:
            file.before = text.replace(edit.new, edit.old, -1 if edit.every else 1)
        elif edit.kind == "append" and text.endswith(edit.new):
            file.before = text[: len(text) - len(edit.new)] or None
        elif edit.kind in ("replace", "cell", "insert"):
            file.pieces.append((edit.old, edit.new))
        else:
            file.why = "what it was before the call is not known any more"


call_of = tool_call.read
protected = protected_files.written
loses_work = call_edits.loses_work


def changed(event: "Event", given: "Mapping[str, object]") -> "Event":
    """The event with other arguments of its call: commands, paths, target and files are read anew."""
    assert event.tool is not None
    made = event.but(tool=tool_call.changed(event.tool, given, event.root, event.checkout))
    made.view = view_of(made)
    return made


def unclear(event: "Event", call: "dict[str, object]") -> "list[str]":
    """For which of its words the call is not plain (`calls.plain`). Raises GitError."""
    from ahp.agents.calls.plain import unclear

    return unclear(event, call)


tool.reader = sys.modules[__name__]


_BRINGS_BACK = ("checkout", "clean", "reset", "restore", "rm", "stash", "switch")


def refused(event: "Event", call: "dict[str, object]") -> "list[dict[str, object]]":
    """What the call writes of what another tool was refused a moment ago: `{path, rule, seconds, sure}` for each path,
    by its latest refusal. Raises AhpError.
    """
    aimed, view = _aimed_at(call), event.view if isinstance(event.view, CallView) else None
    if not event.session or not aimed:
        return []
    kind = str(call.get("name", ""))
    calls = [former for former in session_calls.read(event.journal, event.session) if former.kind]
    if not any(former.denied for former in calls):
        return []
    contents = view.digests() if view else {}
    deleted = {path for path, file in view.files.items() if file.after is None} if view else set()
    found: list[dict[str, object]] = []
    for path, sure in aimed.items():
        for former in reversed(calls):
            if path not in former.writes:
                continue
            if not former.denied and former.kind in WRITING:
                break
            same = path not in contents or contents[path] == former.contents.get(path)
            if former.denied and former.kind != kind and same and path not in deleted:
                oracle, _, name = next(iter(former.rules), "").partition("/")
                rule = oracle if name in ("", oracle) else f"{oracle}/{name}"
                found.append(
                    {"path": path, "rule": rule, "seconds": max(int(clock.now() - former.at), 0), "sure": sure}
                )
                break
    return found


def _aimed_at(call: "dict[str, object]") -> dict[str, bool]:
    """The paths that the call writes (true) and those that it may write, but for those that only git brings back."""
    listed, commands = call.get("writes"), call.get("commands")
    found = dict.fromkeys([str(path) for path in listed], True) if isinstance(listed, list) else {}
    back, other = set[str](), set[str]()
    for one in commands if isinstance(commands, list) else []:
        for path in one.get("may_write", []):
            found.setdefault(str(path), False)
        brings_back = one.get("program") == "git" and one.get("verb") in _BRINGS_BACK
        (back if brings_back else other).update(one.get("writes", []), one.get("may_write", []))
    return {path: sure for path, sure in found.items() if path in other or path not in back}
