"""Runs what a template says as its platform would: the steps of the file, in a bare environment, with the platform's
variables and event files. Nothing of a template is written down here again.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import yaml

AHP = str(Path(sys.executable).with_name("ahp"))
# Stands for Python's installer, which would ask the network: it takes only a lock with digests, and gives ahp.
_PYTHON = """#!/bin/sh
set -eu
[ "$1 $2 $3" = "-I -m venv" ] || exit 90 # without -I, a venv.py in the current folder would run
shift 3
[ "$1" = --clear ] && shift
mkdir -p "$1/bin"
cat > "$1/bin/python" <<'END'
#!/bin/sh
set -eu
[ "$*" = "-I -m pip install --quiet --require-hashes --only-binary :all: -r requirements.txt" ] || exit 91
cp requirements.txt "$HOME/installed.$$" # jobs run side by side: two cp of one new file can meet
mv -f "$HOME/installed.$$" "$HOME/installed.txt"
ln -sf {ahp} "$(dirname "$0")/ahp"
END
chmod +x "$1/bin/python"
"""


class Ran(NamedTuple):
    """How a job ended: the status of the step that failed, else 0, and all that its steps printed."""

    code: int
    said: str


class Machine:
    """A runner of a platform: a home, a folder for temporary files, a `python3` that needs no network."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("home", "temp", "bin", "work"):
            (folder / name).mkdir(parents=True)
        (folder / "bin/python3").write_text(_PYTHON.replace("{ahp}", AHP))
        (folder / "bin/python3").chmod(0o755)

    @property
    def installed(self) -> str:
        """The lock that was installed from."""
        return (self.folder / "home/installed.txt").read_text()

    def run(self, argv: list[str], env: Mapping[str, str], where: str = "work") -> Ran:
        bare = {
            "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
            "HOME": str(self.folder / "home"),
            "TMPDIR": str(self.folder / "temp"),
            "CI": "true",
        }
        done = subprocess.run(
            argv, cwd=self.folder / where, env={**bare, **env}, capture_output=True, text=True, check=False
        )
        return Ran(done.returncode, done.stdout + done.stderr)

    def script(self, lines: str, env: Mapping[str, str], shell: str = "sh -e", where: str = "work") -> Ran:
        return self.run([*shell.split(), "-c", lines], env, where)


def github(machine: Machine, workflow: str, event: str, payload: Mapping[str, object], **env: str) -> Ran:
    """The one job of a workflow, its steps in order as the runner runs them: `bash -e`, expressions filled in."""
    path = machine.folder / "event.json"
    path.write_text(json.dumps(payload))
    (job,) = yaml.load(workflow, yaml.BaseLoader)["jobs"].values()
    known = {"event": payload, "sha": env.get("GITHUB_SHA", ""), "token": "t0ken"}
    variables = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": event,
        "GITHUB_EVENT_PATH": str(path),
        "RUNNER_TEMP": str(machine.folder / "temp"),
        **env,
        **_filled(job.get("env", {}), known),
    }
    said = ""
    for step in job["steps"]:
        assert "uses" not in step  # nothing but git and what is installed by digest
        ran = machine.script(step["run"], {**variables, **_filled(step.get("env", {}), known)}, "bash -e")
        said += ran.said
        if ran.code and step.get("continue-on-error") != "true":
            return Ran(ran.code, said)
    return Ran(0, said)


def _filled(env: Mapping[str, str], known: Mapping[str, object]) -> dict[str, str]:
    return {name: re.sub(r"\$\{\{(.*?)\}\}", lambda found: _value(found[1], known), text) for name, text in env.items()}


def _value(expression: str, known: Mapping[str, object]) -> str:
    """The first of `github.a.b || github.c` that is there."""
    for path in expression.split("||"):
        value: object = known
        for name in path.strip().split(".")[1:]:
            value = value.get(name) if isinstance(value, Mapping) else None
        if value:
            return str(value)
    return ""


def github_action(machine: Machine, action: str, payload: Mapping[str, object], **env: str) -> Ran:
    """The composite action alone in a job, its options as `INPUT_OPTIONS` and so on would give them."""
    made = yaml.load(action, yaml.BaseLoader)
    assert made["runs"]["using"] == "composite" and all(step["shell"] == "bash" for step in made["runs"]["steps"])
    inputs = {name: env.pop(f"INPUT_{name.upper()}", told["default"]) for name, told in made["inputs"].items()}
    text = yaml.safe_dump({"jobs": {"only": {"steps": made["runs"]["steps"]}}})
    for name, value in inputs.items():
        text = text.replace("${{ inputs." + name + " }}", value)
    return github(machine, text, "pull_request_target", payload, **env)


def gitlab(machine: Machine, text: str, job: str, **env: str) -> Ran:
    """A job of the file, its scripts as one, as GitLab's runner does it."""
    jobs = yaml.load(text, yaml.BaseLoader)
    whole = {**jobs[jobs[job]["extends"]], **jobs[job]}
    assert whole["allow_failure"] == "false"
    return machine.script("\n".join([*whole["before_script"], *whole["script"]]), {"GITLAB_CI": "true", **env})
