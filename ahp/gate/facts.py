"""The facts of one event as conditions read them: a list of slots, costly ones filled only on demand."""

from ahp.conditions.evaluate import MISSING
from ahp.facts import registry
from ahp.facts.gather import gather
from ahp.system.errors import AhpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.facts.registry import Settings
    from ahp.policy.program import Program
    from ahp.protocol.event import Event


class Facts:
    """Values by slot (`MISSING` where absent), and why each absent one is: `(reason, command that makes it)`.

    Costly namespaces (commands) stay missing until `gather_costly`: a rule that is decided without them, by Kleene's
    logic, would be decided the same with them.
    """

    __slots__ = ("event", "missing", "program", "slots", "values")

    def __init__(self, program: "Program", event: "Event") -> None:
        self.program, self.event = program, event
        self.values: dict[str, object] = {}
        self.missing: dict[str, tuple[str, str]] = {}
        self.slots: list[object] = []
        costly = program.costly
        self._gather({name: fields for name, fields in program.reads.items() if name not in costly}, program.settings)

    def gather_costly(self) -> None:
        """Fills the slots of the costly namespaces; commands that nobody accepted stay missing."""
        from ahp.policy import trust

        costly = self.program.costly
        reads = {name: fields for name, fields in self.program.reads.items() if name in costly}
        self._gather(reads, self.program.settings.but(trusted=trust.checker(self.event)))

    def also(self, paths: list[str]) -> None:
        """Gathers what only a message names, once a rule has matched; commands are not run for a sentence."""
        unknown = [path for path in paths if path not in self.values and path not in self.missing]
        for namespace, fields in registry.by_namespace(unknown).items():
            if namespace not in registry.NAMESPACES:
                continue
            try:
                self._gather({namespace: fields}, self.program.settings)
            except AhpError as error:  # the sentence says "(unknown)"; the rule has matched without it
                self.missing.update({f"{namespace}.{field}": (str(error), "") for field in fields})

    def _gather(self, reads: dict[str, list[str]], settings: "Settings") -> None:
        values, missing = gather(reads, self.event, settings)
        self.values.update(values)
        self.missing.update(missing)
        get = self.values.get
        self.slots = [get(path, MISSING) for path in self.program.slots]

    def scalars(self) -> dict[str, object]:
        """The facts a log line may hold: numbers, truth values and short words, never contents (design §7)."""
        return {path: value for path, value in self.values.items() if _loggable(path, value)}


def _loggable(path: str, value: object) -> bool:
    if registry.is_private(path):
        return False
    return value is None or isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= 200)
