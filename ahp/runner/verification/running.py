"""One run of a check: within its time, with nothing left of what it started."""

import os
import shutil
import tempfile
from collections.abc import Mapping

from ahp.runner.verification.check import PLUGIN, PLUGINS, RECORD, REPORT, SCRATCH, Check, Ran
from ahp.runner.verification.result import VerificationResult, detail, plain
from ahp.system import environ, files, interrupt, process
from ahp.system.descendants import ending
from ahp.system.errors import AhpError, Timeout
from ahp.system.process import NotStarted

_REPORT_LIMIT = 64 << 20  # bytes
_LAST = 64 << 10  # bytes of what was printed
# What a test run, a make or a hook around this process has set is not the project's. All else is as it was found.
_LISTED = (
    "MAKEFLAGS MFLAGS MAKELEVEL NODE_TEST_CONTEXT JEST_WORKER_ID VITEST VITEST_POOL_ID VITEST_WORKER_ID "
    "COVERAGE_PROCESS_START"
)
_NOT_THE_PROJECTS = frozenset(_LISTED.split())
_PREFIXES = ("PYTEST_", "COV_CORE_")


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """The environment that checks run in: `env` without what ties it to a hook or to another run of tests."""
    kept = environ.scrubbed(dict(env))
    return {
        name: value for name, value in kept.items() if name not in _NOT_THE_PROJECTS and not name.startswith(_PREFIXES)
    }


def run(check: Check, root: str, env: Mapping[str, str], seconds: float) -> VerificationResult:
    """What a check finds in the project at `root`, in at most `seconds`.

    Whatever it started ends with it, however it ends: Ctrl-C and signals come through.
    """
    if check.missing or check.read is None:
        return VerificationResult("tool_missing", check.missing, suggestion=check.suggestion)
    if seconds <= 0:
        return _timeout(f"no time was left for {check.name}", check.directory)
    folder = os.path.normpath(os.path.join(root, check.directory))
    descendants, marked = ending(env)
    with tempfile.TemporaryDirectory(prefix="ahp-verify-", ignore_cleanup_errors=True) as scratch:
        places = {name: os.path.join(scratch, name[1:-1]) for name in (REPORT, SCRATCH, PLUGINS, RECORD)}
        names = places | {PLUGIN: check.plugin.stem if check.plugin else ""}

        def filled(text: str) -> str:
            for name, meant in names.items():
                text = text.replace(name, meant)
            return text

        own = {name: filled(value) for name, value in check.env.items()}
        try:
            if check.plugin:
                os.mkdir(places[PLUGINS])
                os.chmod(shutil.copy(check.plugin, places[PLUGINS]), 0o700)
            with descendants:
                argv = [check.argv[0], *map(filled, check.argv[1:])]
                ran = process.capture(argv, cwd=folder, env=marked | own, timeout=seconds, check=interrupt.check)
            data, record = (files.read(places[name], _REPORT_LIMIT) for name in (REPORT, RECORD))
        except Timeout as error:
            return _timeout(f"{check.name} did not end within {seconds:.3g} s", check.directory, error.printed)
        except NotStarted as error:
            return VerificationResult("tool_missing", str(error), suggestion=f"Install {check.name}.")
        except AhpError as error:
            said = f"{check.name}: {error}"
            return VerificationResult("crash", said, [detail(check.directory, None, said)], "Have it print less.")
    out, err = (
        plain(one.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape") for one in (ran.out, ran.err)
    )
    return check.read(Ran(ran.code, out, err, data, folder, check.directory, record, check.files))


def _timeout(said: str, directory: str, printed: bytes = b"") -> VerificationResult:
    """What was printed last tells where it stood."""
    last = printed[-_LAST:].decode("utf-8", "replace").strip()
    details = [detail(directory, None, said, last)] if last else []
    return VerificationResult("timeout", said, details, "Give it more time, or find what hangs.")
