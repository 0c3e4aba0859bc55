"""Four independent steps of two seconds each, side by side: the whole run, with the real gate and real work trees.

`python -m bench.parallel [--quick]`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from ahp.runner.config import AgentConfig
from ahp.runner.gating.gate_adapter import RepositoryGate
from ahp.runner.models.model import Answer, Want
from ahp.runner.run.agent import Agent
from ahp.runner.run.conversation import Message
from ahp.runner.tools.catalog import standard_tools
from bench.measure import real_time

STEPS, SECONDS = 4, 2
FILES = 500
BUDGET = 3.0  # s


class Model:
    """Has each step sleep and write a file of its own."""

    name = "bench"

    def query(self, messages: list[Message], *, max_tokens: int, timeout_s: float, want: Want | None = None) -> Answer:
        head = messages[1]["content"]
        if "First write the plan" in head:
            steps = [{"id": f"s{number}", "description": "wait and write"} for number in range(STEPS)]
            return Answer(json.dumps({"title": "wait", "steps": steps}))
        if not head.startswith("Step "):
            return Answer("all is done")
        if len(messages) > 2:
            return Answer('{"control": "step_done"}')
        step = head.partition(":")[0].removeprefix("Step ")
        return Answer(
            json.dumps({"tool": "run_command", "args": {"command": f"sleep {SECONDS}; echo {step} > {step}"}})
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a first look, not a figure")
    rounds = 1 if parser.parse_args().quick else 5
    with real_time() as scheduling:
        took = {jobs: [_run(jobs) for _ in range(rounds)] for jobs in (1, STEPS)}
    print(f"s, median of {rounds}, {STEPS} steps of {SECONDS} s, {FILES} files, in {scheduling}")
    for jobs, times in took.items():
        print(f"--jobs {jobs:<27} {median(times):8.2f}")
    found = median(took[STEPS])
    print(f"budget of --jobs {STEPS}: {BUDGET:g} s: {'kept' if found <= BUDGET else 'MISSED'}")
    return 0 if found <= BUDGET else 1


def _run(jobs: int) -> float:
    """The seconds of one run."""
    with tempfile.TemporaryDirectory(prefix="ahp-bench-") as folder:
        root = Path(folder).resolve()
        _project(root)
        config = AgentConfig(jobs=jobs, verification_policy="none")
        agent = Agent(Model(), standard_tools(print), gate=RepositoryGate(str(root), session="bench"), config=config)
        begin = time.perf_counter()
        turn = agent.run("wait")
        took = time.perf_counter() - begin
        written = [(root / f"s{number}").read_text() for number in range(STEPS)]
        assert turn.ok and written == [f"s{number}\n" for number in range(STEPS)], turn
        return took


def _project(root: Path) -> None:
    for number in range(FILES):
        path = root / f"src/package_{number // 25}/module_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"value_{line} = {number * line}\n" for line in range(40)))
    (root / ".ahp").mkdir()
    rules = "  secrets: {at: pre-tool-use, block: \"any(glob(p, 'secrets/**') for p in tool.paths)\"}\n"
    (root / ".ahp/hooks.yaml").write_text(f"version: 1\nrules:\n{rules}")
    name = ["-c", "user.name=b", "-c", "user.email=b@x"]
    for command in (["init", "-q"], ["add", "-A"], [*name, "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=root, check=True, env={**os.environ, "GIT_CONFIG_NOSYSTEM": "1"})


if __name__ == "__main__":
    sys.exit(main())
