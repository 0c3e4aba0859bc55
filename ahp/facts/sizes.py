"""How large changed files are now: asked only when a rule reads it, in as few questions to git as possible."""

from ahp.system import blobs
from ahp.system.change import SUBMODULE, FileChange
from ahp.system.errors import Unknown
from ahp.system.view import View


def byte_counts(view: View, entries: list[FileChange]) -> list[int]:
    """Size in bytes of each entry after the change; 0 for a deleted file and a submodule. Raises GitError."""
    known = _object_sizes(view, [entry.new_oid for entry in entries if _is_stored(entry)])
    others = {e.path: 0 if _is_nothing(e) else view.size(e.path) or 0 for e in entries if not _is_stored(e)}
    return [known[entry.new_oid] if _is_stored(entry) else others[entry.path] for entry in entries]


def line_counts(view: View, entries: list[FileChange]) -> list[tuple[int, int | None]]:
    """(bytes, lines) of each entry after the change; lines None for binary and over the limit. Raises GitError."""
    sizes = byte_counts(view, entries)
    text = [
        entry.insertions is not None and size <= blobs.LINES_LIMIT for entry, size in zip(entries, sizes, strict=True)
    ]
    known = list(zip(entries, sizes, text, strict=True))
    lines = view.blob_lines({e.new_oid: size for e, size, is_text in known if is_text and _is_stored(e)})

    def count(entry: FileChange) -> int:
        if _is_stored(entry):
            return lines[entry.new_oid]
        return 0 if _is_nothing(entry) else blobs.count(view.read(entry.path) or b"")

    return [(size, count(entry) if is_text else None) for entry, size, is_text in known]


def _is_nothing(entry: FileChange) -> bool:
    """There is no file to read: it is deleted, or a submodule."""
    return entry.status == "D" or entry.new_mode == SUBMODULE


def _is_stored(entry: FileChange) -> bool:
    """Its content is an object of the repository; an edited file of the work tree has no id yet."""
    return not _is_nothing(entry) and entry.new_oid.strip("0") != ""


def _object_sizes(view: View, oids: list[str]) -> dict[str, int]:
    found = view.blob_sizes(oids)
    for oid in oids:
        if oid not in found:
            raise Unknown(f"the object {oid[:12]} of a changed file is not in this clone", view.mend())
    return found
