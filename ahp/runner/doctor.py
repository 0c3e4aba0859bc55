"""What `ahp doctor` says of the embedded agent: where its commands run."""

import os

from ahp.facts.policy import AGENT_FILE
from ahp.hosts.table import Check
from ahp.runner.config import load_config
from ahp.runner.gating.box import Box
from ahp.runner.run import runs
from ahp.system.errors import AhpError
from ahp.system.git import Repository


def examine(repo: Repository) -> list[Check]:
    """A line where the project has settings of the agent, or has had runs."""
    if not os.path.isfile(os.path.join(repo.root, AGENT_FILE)) and not runs.ids(repo.root):
        return []
    try:
        setting = load_config(repo.root).box
    except AhpError as error:
        return [Check("agent", "wrong", str(error), f"correct {AGENT_FILE}")]
    if setting == "never":
        return [Check("agent", "note", f"its commands run without a box: box is never in {AGENT_FILE}")]
    why = Box(setting, repo.root, "").obstacle()
    if not why:
        return [Check("agent", "ok", "its commands run in a box")]
    status, said = ("wrong", "are refused") if setting == "always" else ("note", "run without a box")
    return [Check("agent", status, f"its commands {said}: {why}")]
