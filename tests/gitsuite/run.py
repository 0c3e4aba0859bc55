"""git's own tests, as the judge of ahp's hooks: `python -m tests.gitsuite.run GIT_SOURCE` (`make test-git`).

Each of git's scripts (`t/t*.sh`) runs with ahp's hooks in the templates of each repository that it makes: under a
policy of one silent rule, and under the pack `core` in observe mode. One that does not pass so runs without ahp, too,
and must end alike. Those that do not are listed in `differs.txt` with the reason; any other is an error. What was run
is kept in build/gitsuite/, and a later call goes on from there.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

from ahp.hosts.git import bundle, install, installation
from ahp.hosts.git.githooks import HOOKS
from ahp.hosts.git.hook_managers import write
from ahp.system import environ, git

PROJECT = Path(__file__).resolve().parent.parent.parent
DIFFERS = Path(__file__).with_name("differs.txt")
POLICIES = {
    "silent": 'version: 1\nrules: {silent: {at: [pre-commit, pre-push], block: "false", message: never}}\n',
    "core": "version: 1\nextends: [core]\nmode: observe\n",
    "plain": "",  # last: those alone that did not pass with ahp
}
_PASSED = "0: "
_LONGEST = 1800  # s that a script may take
_NOT_OK = re.compile(r"^not ok (\d+)\b(?! .*# TODO)", re.MULTILINE)


class Suite:
    """The tests of one source of git, and what is known of them: (phase, script) → the numbers that failed."""

    def __init__(self, source: Path, kept: Path) -> None:
        self.source, self.kept = source, kept
        self.known: dict[tuple[str, str], str] = {}
        self._lock = Lock()
        if kept.exists():
            for line in kept.read_text().splitlines():
                phase, script, ended = json.loads(line)
                self.known[phase, script] = ended

    def scripts(self) -> list[str]:
        return sorted(path.name for path in (self.source / "t").glob("t[0-9][0-9][0-9][0-9]-*.sh"))

    def run(self, phase: str, script: str) -> None:
        """Runs a script and keeps how it ended: its exit code, and the numbers of what failed in it."""
        with tempfile.TemporaryDirectory(prefix="gitsuite-") as root:
            asked = ["sh", f"./{script}", f"--root={root}"]
            env = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "AHP_"))}
            try:
                done = subprocess.run(
                    asked,
                    cwd=self.source / "t",
                    env=env,
                    capture_output=True,
                    stdin=subprocess.DEVNULL,
                    timeout=_LONGEST,
                )
                failed = _NOT_OK.findall(done.stdout.decode("utf-8", "replace"))
                ended = f"{done.returncode}: {' '.join(failed)}"
            except subprocess.TimeoutExpired:
                ended = "takes too long"
            subprocess.run(["chmod", "-R", "u+rwx", root], capture_output=True)
        with self._lock, self.kept.open("a") as file:
            file.write(json.dumps([phase, script, ended]) + "\n")
            self.known[phase, script] = ended

    def failed(self, script: str) -> bool:
        """Whether it did not pass with ahp."""
        return any(not self.known.get((phase, script), _PASSED).startswith(_PASSED) for phase in ("silent", "core"))

    def differing(self, phase: str) -> Iterator[tuple[str, str, str]]:
        """The scripts that ended otherwise than without ahp: name, how without it, how with it."""
        for script in self.scripts():
            plain, now = self.known.get(("plain", script)), self.known.get((phase, script))
            if plain is not None and now is not None and plain != now:
                yield script, plain, now


def place_hooks(hooks: Path, policy: str, home: Path) -> None:
    """Puts ahp's hooks, under a user's policy, into git's templates; takes them away where there is none."""
    for name in HOOKS:
        (hooks / name).unlink(missing_ok=True)
    if not policy:
        return
    user = home / "hooks.yaml"
    user.write_text(policy)
    made = home / "repository"
    if not made.exists():
        subprocess.run(["git", "init", "-q", made], check=True)
    repo = git.discover(str(made), environ.scrubbed(environ.current()))
    install.install(repo, str(user))
    # A repository that is made of the templates has no log yet.
    known = {**install.baked(repo, "", str(user)), "NEAR": ""}
    bundle.write(known["BUNDLE"], known["PYTHON"], installation.import_paths())
    for name in HOOKS:
        write(str(hooks / name), install.shim(name, known))


def listed() -> dict[str, str]:
    """The scripts that are known to end otherwise → why."""
    lines = DIFFERS.read_text().splitlines()
    pairs = (line.split(maxsplit=1) for line in lines if line and not line.startswith("#"))
    return dict(pairs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, help="git's source, as `git clone` or `apt-get source git` gives it")
    parser.add_argument("scripts", nargs="*", help="these alone, as t7500-commit-template-squash-signoff.sh")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    source: Path = given.source.resolve()
    if not (source / "bin-wrappers" / "git").exists():
        subprocess.run(["make", f"-j{given.jobs}", "all", "NO_GETTEXT=1", "NO_TCLTK=1"], cwd=source, check=True)
    told = subprocess.check_output([source / "bin-wrappers" / "git", "version"], text=True).strip()
    folder = PROJECT / "build" / "gitsuite"
    folder.mkdir(parents=True, exist_ok=True)
    suite = Suite(source, folder / f"{told.removeprefix('git version ')}.jsonl")
    templates = source / "templates" / "blt" / "hooks"
    templates.mkdir(exist_ok=True)
    chosen = given.scripts or suite.scripts()
    try:
        for phase, policy in POLICIES.items():
            place_hooks(templates, policy, folder)
            asked = chosen if policy else [script for script in chosen if suite.failed(script)]
            left = [script for script in asked if (phase, script) not in suite.known]
            print(f"{told}, {phase}: {len(left)} of {len(asked)} scripts", flush=True)
            with ThreadPoolExecutor(given.jobs) as pool:
                list(pool.map(lambda script, phase=phase: suite.run(phase, script), left))
    finally:
        place_hooks(templates, "", folder)
    reasons, wrong = listed(), 0
    for phase in ("silent", "core"):
        for script, plain, now in suite.differing(phase):
            why = reasons.get(script, "WHY?")
            print(f"{phase}: {script} ends with {now}, without ahp with {plain}: {why}")
            wrong += script not in reasons
    differing = {script for phase in ("silent", "core") for script, *_ in suite.differing(phase)}
    same = len(set(chosen) - differing)
    print(f"{same} of {len(chosen)} scripts end as without ahp, {wrong} without a reason otherwise")
    return 1 if wrong else 0


if __name__ == "__main__":
    shutil.which("git") or sys.exit("git is not on PATH")
    sys.exit(main())
