"""A state of the tree that lives in a dictionary."""

from __future__ import annotations

DRAFT = """\
---
id: {id}
type: feature
status: open
stage: draft
title: A thing
dependencies: {dependencies}
files: []
---

## {id}: A thing

## Acceptance Criteria
- [ ] It works
"""


class MemoryView:
    """Paths and bytes, and which of them were read."""

    def __init__(self, files: dict[str, str | bytes]) -> None:
        self.files = {path: data.encode() if isinstance(data, str) else data for path, data in files.items()}
        self.opened: list[str] = []

    def paths(self) -> list[str]:
        return list(self.files)

    def base(self) -> str:
        return "4b825dc642cb6eb9a060e54bf8d69288fbee4904"  # git's empty tree

    def read(self, path: str) -> bytes | None:
        self.opened.append(path)
        return self.files.get(path)


def draft(issue_id: str, *dependencies: str) -> str:
    """A ticket of Monoco's kind."""
    return DRAFT.format(id=issue_id, dependencies="[" + ", ".join(f"'{item}'" for item in dependencies) + "]")


def place(issue_id: str, status: str = "open") -> str:
    """Where it lies."""
    return f"Issues/Features/{status}/{issue_id}-a-thing.md"
