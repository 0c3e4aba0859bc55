"""A policy of another repository as it lies in this one: text and lock, written by `ahp policy update`, never fetched.

The gate reads both as it reads every file of the policy, from the tree that it judges by. A text that does not fit the
lock, and a lock that does not fit the entry of `extends`, make the policy invalid.
"""

from collections.abc import Callable

from pydantic import BaseModel, ConfigDict, ValidationError

from ahp.policy.model_types import Name
from ahp.policy.models import SharedKeys
from ahp.policy.problems import quoted
from ahp.system.digest import tagged
from ahp.system.errors import AhpError

SHARED = "shared"  # begins the name of such a policy in a chain of `extends`; no pack or file has a blank in it
LOCK, WAIVERS = "policy.lock", "waivers.yaml"
_MEND = "run `ahp policy update`"

Read = Callable[[str], bytes | None]
"""Gives a file of the policy's folder, None where there is none. Raises AhpError."""


class Locked(BaseModel):
    """One shared policy: its entry of `extends`, and what that was when it was fetched."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    repo: str
    ref: str
    path: str
    signers: list[str]
    commit: str
    at: int
    """The committer's time, in seconds since the epoch: an older version is a step back."""
    signer: str
    files: dict[str, str]
    """Digest of each file, by its path in `.ahp/vendor/NAME`."""

    def fits(self, entry: SharedKeys) -> bool:
        """Whether it was fetched for this entry."""
        asked = (entry.repo, entry.ref, entry.path, entry.signers)
        return (self.repo, self.ref, self.path, self.signers) == asked


class Lock(BaseModel):
    """`.ahp/policy.lock`. `repository` says which repository this is (`host/path`), for an organisation's waivers."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    repository: str = ""
    shared: dict[Name, Locked] = {}


def read_lock(data: bytes | None) -> Lock:
    """The lock of these bytes, an empty one for None. Raises AhpError."""
    try:
        return Lock.model_validate_json(data) if data is not None else Lock()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise AhpError(f".ahp/{LOCK} is damaged ({where or 'it'}: {first['msg']}); {_MEND}") from None


def place(name: str, path: str) -> str:
    """The path of a shared policy's file in the policy's folder."""
    return f"vendor/{name}/{path}"


def text_of(entry: SharedKeys, read: Read) -> bytes:
    """The text of a shared policy, as it was fetched. Raises AhpError, also where text, lock and entry do not agree."""
    lock = read_lock(read(LOCK)).shared.get(entry.called)
    if lock is None:
        raise AhpError(f"{quoted(entry.called)} was not fetched yet; {_MEND}")
    if not lock.fits(entry):
        raise AhpError(f"{quoted(entry.called)} was fetched for another repo, ref, path or signers; {_MEND}")
    return _file(entry.called, entry.path, lock, read)


def waivers_of(read: Read) -> list[tuple[str, bytes, str]]:
    """(path, content, name of this repository) of each shared policy's waivers. Raises AhpError."""
    lock = read_lock(read(LOCK))
    named = [(name, one) for name, one in sorted(lock.shared.items()) if WAIVERS in one.files]
    return [(place(name, WAIVERS), _file(name, WAIVERS, one, read), lock.repository) for name, one in named]


def _file(name: str, path: str, lock: Locked, read: Read) -> bytes:
    at = place(name, path)
    data = read(at)
    if data is None:
        raise AhpError(f"there is no .ahp/{at}; {_MEND}, and commit it: git add -f .ahp/vendor")
    if tagged(data) != lock.files.get(path):
        raise AhpError(f".ahp/{at} is not what .ahp/{LOCK} says ({lock.commit[:10]}); {_MEND}")
    return data
