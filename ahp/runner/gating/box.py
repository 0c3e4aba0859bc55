"""Where the commands of a run are carried out: in the box that a wing or a package adds (docs/box.md), or here."""

from collections.abc import Callable

from ahp.protocol.verdict import Verdict
from ahp.system import places
from ahp.system.errors import AhpError

PLACE = "box"


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
        return places.shell(PLACE, command, keys, self._root, session)

    def placing(self, verdict: Verdict, tell: Callable[[str], object]) -> Callable[[str], str]:
        """What gives the text that a shell runs for a command of the call that `verdict` allows.

        A rule of the policy goes before the settings. Raises AhpError where the call has to run in a box and none can
        start; `tell` hears of one that runs without.
        """
        rule, otherwise = "", "block" if self._setting == "always" else "skip"
        keys: dict[str, list[str]] = {}
        if verdict.box is not None:
            keys = verdict.box["keys"]
            rule, otherwise = verdict.box["rule"], verdict.box["otherwise"] if verdict.box["rule"] else otherwise
        if not rule and self._setting == "never":
            return str
        if not (why := self.obstacle()):
            return lambda command: self._text(command, keys)
        who = f"{rule}: it" if rule else "it"
        if otherwise == "block":
            raise AhpError(f"{who} has to run in a box, and none can start ({why}). See: ahp doctor")
        if otherwise == "prompt":
            tell(f"ahp note: {who} has to run in a box, and none can start, so it runs without one. {why}")
        return str
