"""Where the journal of a folder is (design §3)."""

from __future__ import annotations

import os

from ahp.journal.append import Journal
from ahp.system import environ, files, git, jsontext
from ahp.system.errors import AhpError
from ahp.system.git import NotARepository

INSTALL_RECORD = "/install.json"
_LIMIT = 64 << 20


def journal_of(folder: str) -> Journal:
    """The journal of the repository that holds `folder`, one for all its worktrees; without one, `folder`/.ahp.

    It knows the genesis id that `ahp install git` noted. Raises AhpError.
    """
    try:
        place = git.discover(folder, environ.current()).ahp_dir
    except NotARepository:
        place = os.path.abspath(folder) + "/.ahp"
    return Journal(place, noted_genesis(place))


def noted_genesis(place: str) -> str | None:
    """The id of the log that `ahp install git` noted in the ahp folder `place`, None when it is not installed."""
    genesis = install_record(place).get("genesis")
    return genesis if isinstance(genesis, str) else None


def install_record(place: str) -> dict[str, object]:
    """All that `ahp install git` noted in the ahp folder `place`, {} when it is not installed. Raises AhpError."""
    data = files.read(place + INSTALL_RECORD, _LIMIT)
    try:
        record = jsontext.decode((data or b"{}").decode("utf-8", "surrogateescape"))
    except ValueError:
        record = None
    if not isinstance(record, dict):
        raise AhpError(f"{place}{INSTALL_RECORD} is damaged; remove it and run ahp install git again")
    return record
