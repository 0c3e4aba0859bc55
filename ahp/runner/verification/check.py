"""A check that verification can make: a program of the project, how it is called, and how its report is read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ahp.runner.verification.result import VerificationResult

REPORT = "{report}"
"""Stands in arguments and variables for the path of a file that the program is to write its report to."""
SCRATCH = "{scratch}"
"""Stands for a folder that is there while the program runs."""
PLUGIN = "{plugin}"
"""Stands for the name of the check's `plugin`."""
PLUGINS = "{plugins}"
"""Stands for a folder that holds nothing but the check's `plugin`."""
RECORD = "{record}"
"""Stands for the path of a file that a plugin of ours is to write."""
Kind = Literal["tests", "lint"]
_OURS = (REPORT, SCRATCH, PLUGIN, PLUGINS, RECORD)


@dataclass(frozen=True)
class Ran:
    """How a program ended: its exit `code`, what it printed, its report, and the record of a plugin of ours.

    The last two are None where it wrote none. `folder` is where it ran, absolute; `directory` the same, relative to
    the root. `files` are the test files that it was to run, relative to `folder`.
    """

    code: int
    out: bytes
    err: bytes
    report: bytes | None
    folder: str
    directory: str
    record: bytes | None = None
    files: Sequence[str] = ()

    @property
    def said(self) -> str:
        """What it printed, errors last."""
        return (self.out[-_PRINTED:] + b"\n" + self.err[-_PRINTED:]).decode("utf-8", "replace").strip()


_PRINTED = 64 << 10


@dataclass(frozen=True)
class Check:
    """One check of the project.

    `directory` is where it runs, relative to the root, "." for the root itself. `missing` says why it cannot be made,
    in place of `argv`, and `suggestion` what to do about it. `read` makes a result of how the program ended. `files`
    are its test files, relative to `directory`; none where only its exit code tells.
    `toolchain` gives what the result depends on beside the project's files, as lines of text; None where that is not
    known, so that nothing can be remembered. `plugin` is a module of ours that the program loads.
    """

    name: str
    kind: Kind
    directory: str
    argv: tuple[str, ...] = ()
    read: Callable[[Ran], VerificationResult] | None = None
    env: dict[str, str] = field(default_factory=dict)
    missing: str = ""
    suggestion: str = ""
    files: Sequence[str] = ()
    toolchain: Callable[[], list[str]] | None = None
    plugin: Path | None = None

    @classmethod
    def by(cls, program: str | None, name: str, kind: Kind, folder: str, argv: Sequence[str], **more: Any) -> "Check":
        """The check that calls `program` with `argv`; without a program one that is `missing` as `more` says."""
        if program is None:
            return cls(name, kind, folder, missing=more["missing"], suggestion=more["suggestion"])
        return cls(name, kind, folder, (program, *argv), **{**more, "missing": "", "suggestion": ""})

    @property
    def command(self) -> str:
        """The command line as a person would give it, without the files that it writes for us and reads of ours."""
        words = (self.name if word == PLUGIN else word for word in self.argv)
        return " ".join(word for word in words if not any(one in word for one in _OURS))
