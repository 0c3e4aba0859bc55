"""What passed, remembered for as long as nothing changes that it hangs on."""

import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from ahp.runner.verification.check import Check
from ahp.runner.verification.project import Project
from ahp.runner.verification.result import VerificationResult, clean
from ahp.system import clock, files, jsontext
from ahp.system.errors import AhpError
from ahp.system.version import __version__

_FORMAT = 2
_KEPT = 12  # states of the project that are remembered of a check: going to another branch and back is a hit
_LIMIT = 1 << 20
# Variables that tests and their tools look at. Others are named in the settings (verification_variables).
_LISTED = (
    "PATH HOME LANG LC_ALL LC_CTYPE TZ CI PYTHONPATH PYTHONHASHSEED PYTHONWARNINGS PYTHONOPTIMIZE PYTHONUTF8 "
    "PYTHONDEVMODE VIRTUAL_ENV DJANGO_SETTINGS_MODULE FLASK_ENV NODE_ENV NODE_OPTIONS NODE_PATH GOFLAGS GOOS "
    "GOARCH GOPATH GOWORK GOTOOLCHAIN CGO_ENABLED CC CXX CFLAGS LDFLAGS RUSTFLAGS RUSTUP_TOOLCHAIN CARGO_HOME "
    "CARGO_TARGET_DIR CARGO_BUILD_TARGET LD_LIBRARY_PATH LD_PRELOAD DATABASE_URL"
)
VARIABLES = frozenset(_LISTED.split())


class Remembered:
    """The memory of one project's checks. Without a repository nothing is remembered."""

    def __init__(
        self, project: Project, env: Mapping[str, str], variables: Sequence[str] = (), *, use: bool = True
    ) -> None:
        self._project = project
        self._env = env
        self._variables = sorted(VARIABLES.union(variables))
        self._folder = f"{project.repository.ahp_dir}/cache/verification" if project.repository is not None else ""
        self._use = use and bool(self._folder)
        self._toolchains: dict[tuple[str, str], list[str]] = {}
        self._digest = self._state() if self._use else None

    def _state(self) -> str | None:
        digest = self._project.digest()
        return None if digest is None else f"{digest} {self._project.ignored_digest()}"

    def passed(self, check: Check) -> VerificationResult | None:
        """How a check passed over this very content with these very tools; None where it did not."""
        key = self._key(check, self._digest)
        entry = self._load(check).get(key) if key else None
        if not isinstance(entry, dict) or not isinstance(entry.get("summary"), str):
            return None
        at = clean(str(entry.get("at")), 40)
        told = f"{clean(entry['summary'], 200)} (nothing has changed since {at}, when it ran)"
        lists = [entry.get(key) for key in ("left_out", "cautions")]
        left_out, cautions = ([str(one) for one in kept] if isinstance(kept, list) else [] for kept in lists)
        return VerificationResult("passed", told, cached=True, left_out=left_out, cautions=cautions)

    def keep(self, check: Check, result: VerificationResult) -> None:
        """Remembers what passed. Where nothing can be written it runs again."""
        if not self._folder or not result.ok:
            return
        key = self._key(check, self._after())
        if not key:
            return
        kept = {name: entry for name, entry in self._load(check).items() if name != key}
        lists = {"left_out": [*result.left_out], "cautions": [*result.cautions]}
        kept[key] = {"summary": result.summary, "at": clock.iso(clock.now()), **lists}
        entry = {"passed": dict(list(kept.items())[-_KEPT:])}
        try:
            files.make_dirs(self._folder)
            files.replace(self._path(check), jsontext.encode(entry).encode())
        except AhpError:
            return

    def _after(self) -> str | None:
        """The state after a run, None when tracked or untracked files are others than before it.

        A file that git ignores may be the work of the run itself, such as a data base of tests.
        """
        if self._digest is None:
            return None
        after = Project(self._project.root)
        digest = after.digest()
        return f"{digest} {after.ignored_digest()}" if digest == self._digest.split(" ")[0] else None

    def _key(self, check: Check, state: str | None) -> str:
        """What a result of a check hangs on, as one digest; "" where that cannot be told."""
        if state is None or check.toolchain is None or not self._use:
            return ""
        place = (check.name, check.directory)
        if place not in self._toolchains:
            self._toolchains[place] = check.toolchain()
        told = [
            [_FORMAT, __version__, check.name, check.directory, self._project.root],
            [*check.argv],
            [f"{name}={value}" for name, value in sorted(check.env.items())],
            [f"{name}={self._env[name]}" if name in self._env else name for name in self._variables],
            self._toolchains[place],
            state,
        ]
        return sha256(jsontext.encode(told).encode("utf-8", "surrogatepass")).hexdigest()

    def _path(self, check: Check) -> str:
        named = "\0".join([self._project.root, check.name, check.directory])
        return f"{self._folder}/{sha256(os.fsencode(named)).hexdigest()[:32]}.json"

    def _load(self, check: Check) -> dict[str, Any]:
        """What passed of a check, by key."""
        try:
            kept = jsontext.decode((files.read(self._path(check), _LIMIT) or b"").decode()) if self._folder else None
        except (ValueError, AhpError):
            kept = None
        passed = kept.get("passed") if isinstance(kept, dict) else None
        return passed if isinstance(passed, dict) else {}
