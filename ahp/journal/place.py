"""Where the journal of a folder is (design §3)."""

from __future__ import annotations

import os

from ahp.journal.append import Journal
from ahp.system import environ, files, git, jsontext
from ahp.system.errors import AhpError
from ahp.system.git import NotARepository

_LIMIT = 1 << 20


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
    data = files.read(place + "/install.json", _LIMIT)
    try:
        noted = jsontext.decode((data or b"null").decode())
    except ValueError:
        raise AhpError(f"{place}/install.json is no JSON; run `ahp install git` again") from None
    genesis = noted.get("genesis") if isinstance(noted, dict) else None
    return genesis if isinstance(genesis, str) else None
