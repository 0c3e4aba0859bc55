"""Where the commands of a run are carried out: in the box that a wing or a package adds (docs/box.md), or here."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from ahp.facts.policy import AGENT_FILE
from ahp.protocol.verdict import Verdict
from ahp.runner.tools.tool import Tool
from ahp.system import places
from ahp.system.errors import AhpError
from ahp.system.git import Repository

if TYPE_CHECKING:
    from ahp.hosts.table import Check


class Box:
    """The box of one run in the folder `root`. `setting` is that of `.ahp/agent.yaml`: auto, always or never.

    What calls of one `session` write outside of the project is there for the next one.
    """

    def __init__(self, setting: str, root: str, session: str) -> None:
        self._setting, self._root, self._session = setting, root, session
        self._why: str | None = None

    def at(self, root: str) -> "Box":
        """That of a step which works in the linked work tree `root`: another box, as other files are in it."""
        return Box(self._setting, root, self._session)

    @property
    def starts(self) -> bool:
        """Whether calls run in it by default: where one can start, unless the settings say never."""
        return self._setting != "never" and not self.obstacle()

    def obstacle(self) -> str:
        """Why none can start, "" where one can; found out once a run."""
        if self._why is None:
            try:
                self._text(":", {})
                self._why = ""
            except (AhpError, OSError) as error:
                self._why = str(error) or type(error).__name__
        return self._why

    def _text(self, command: str, keys: dict[str, list[str]]) -> str:
        session = f"{self._session} {self._root}" if self._session else ""
        return places.shell("box", command, keys, self._root, session)

    def placing(self, tool: Tool, verdict: Verdict, tell: Callable[[str], object]) -> Callable[[str], str]:
        """What gives the text that a shell runs for a command of this tool's call, which `verdict` allows.

        A rule of the policy goes before the settings. Raises AhpError where the call has to run in a box and cannot;
        `tell` hears of one that runs without.
        """
        asked = verdict.box or {"rule": "", "keys": {}}
        rule, keys = asked["rule"], asked["keys"]
        otherwise = asked["otherwise"] if rule else "block" if self._setting == "always" else "skip"
        if not rule and self._setting == "never":
            return str
        why = self.obstacle() if getattr(tool, "boxes", False) else "this tool runs its commands itself"
        if not why:
            return lambda command: self._text(command, keys)
        said = f"{f'{rule}: it' if rule else 'it'} has to run in a box, and cannot"
        if otherwise == "block":
            raise AhpError(f"{said} ({why}). See: ahp doctor")
        if otherwise == "prompt":
            tell(f"ahp note: {said}, so it runs without one. {why}")
        return str


def examine(repo: Repository) -> "list[Check]":
    """What `ahp doctor` says of the agent's commands, where the project has settings of the agent, or has had runs."""
    from ahp.hosts.table import Check
    from ahp.runner.config import load_config
    from ahp.runner.run import runs

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
