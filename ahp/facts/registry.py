"""The namespaces of facts: what each declares in its own module, and what a policy tells it (design §6).  [light]

A namespace is a module `ahp.facts.NAME` with a `NAMESPACE` and a function `gather(event, fields, settings)` that gives
the values of `fields` (or more), or raises Absent. A new one takes its module and its name in `NAMESPACES`, no more.
Another package adds one by an entry point `ahp.facts`, whose name is the namespace's and whose value is the module.
"""

from ahp.system.jsontext import Record, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from ahp.protocol.event import Event
    from ahp.system.view import View

# In the order in which `ahp facts` and the docs show them. One that no rule reads is not even imported.
NAMESPACES = (
    "files",
    "diff",
    "content",
    "debuggers",
    "source",
    "ignored",
    "generated",
    "owners",
    "branch",
    "push",
    "request",
    "repo",
    "commit",
    "deps",
    "policy",
    "issue",
    "checklist",
    "tests",
    "coverage",
    "tool",
    "session",
    "actor",
    "environment",
    "env",
    "limits",
    "time",
)

# Groups of triggers that know the same (design §4).
COMMIT = ("pre-commit", "commit-msg", "pre-merge-commit", "post-commit")
PUSH = ("pre-push",)
CI = ("pre-merge",)
ISSUE = (
    "pre-issue-start",
    "pre-issue-submit",
    "pre-issue-close",
    "post-issue-start",
    "post-issue-submit",
    "post-issue-close",
)
TOOL = ("pre-tool-use", "post-tool-use")
SESSION = ("prompt-submit", "session-start", "task-complete")
ALL = COMMIT + PUSH + CI + ISSUE + TOOL + SESSION
# Where there is a change to speak of: a prompt or a new session has none yet.
CHANGE = COMMIT + PUSH + CI + ISSUE + TOOL + ("task-complete",)
# Where the change is one of the whole tree: a tool call names files, but no state to compare.
TREE = COMMIT + PUSH + CI + ISSUE + ("task-complete",)
AGENT = TOOL + SESSION

EVERY_FIELD = ("",)


class Namespace:
    """What a namespace declares: its schema, its source, and how it is treated.

    `schema`: field → entry as `ahp.conditions.schema` reads it, with `doc`, and `triggers` where a field is known at
      fewer of them than the namespace. The one field of a namespace that is a single value is `""`.
    `source`: where the values come from, in the words of `ahp facts`; "" for the change that is judged.
    `triggers`: where it can be known. At those that are not `certain` it may be absent as a whole.
    `own`: where the policy names the fields (`limits`, `env`), the entry of each; its `type` may follow from the value.
    `private`: beginnings of the fields whose values are never logged or shown (design §7): `EVERY_FIELD`, or a few.
    `past`: why it is absent when a past commit is judged; "" where git's objects tell it.
    `assumed`: a policy test that does not give it has what an event without repository and change has, else nothing.
    `costly`: it reads files with a YAML parser; a tool call gathers it only where a rule is undecided without it.
    `late`: it reads whole files; everywhere it is gathered only where a rule is undecided without it.
    `light`: it imports next to nothing, and the bundle of the git hooks holds it.
    `settings`: the fields of Settings that its values depend on, also by way of other facts.
    """

    __slots__ = (
        *("assumed", "certain", "costly", "late", "light", "own", "past", "private", "schema", "settings", "source"),
        "triggers",
    )

    def __init__(
        self,
        *,
        schema: "dict[str, dict[str, Any]]",
        source: str = "",
        triggers: "tuple[str, ...]" = ALL,
        certain: "tuple[str, ...]" = ALL,
        own: "dict[str, Any] | None" = None,
        private: "tuple[str, ...]" = (),
        past: str = "",
        assumed: bool = False,
        costly: bool = False,
        late: bool = False,
        light: bool = False,
        settings: "tuple[str, ...]" = (),
    ) -> None:
        self.schema, self.source, self.triggers, self.certain = schema, source, triggers, certain
        self.own, self.private, self.past = own, private, past
        self.assumed, self.costly, self.late = assumed, costly, late
        self.light, self.settings = light, settings


def fact(type: str, doc: str, **more: "Any") -> "dict[str, Any]":
    """One entry of a schema."""
    return {"type": type, "doc": doc, **more}


added: "dict[str, Any]" = {}
"""The namespaces of other packages that this process has met: name → module."""


def meet(name: str, place: str) -> None:
    """Imports the namespace that another package adds. Raises AhpError where that cannot be."""
    if name not in added:
        from ahp.system import wings

        added[name] = wings.load(place, "facts")


def module(name: str) -> "Any":
    """The module of a namespace."""
    return added[name] if name in added else __import__("ahp.facts." + name, None, None, ("gather",))


def is_known(name: str) -> bool:
    """Whether that is a namespace, of ahp or of a package that this process has met."""
    return name in NAMESPACES or name in added


def namespace(name: str) -> Namespace:
    """What a namespace declares."""
    declared: Namespace = module(name).NAMESPACE
    return declared


def declared() -> "dict[str, Namespace]":
    """What every namespace declares, by name; those of other packages, too. Imports them all."""
    for name, place in places().items():
        meet(name, place)
    return {name: namespace(name) for name in (*NAMESPACES, *added)}


def places() -> "dict[str, str]":
    """Where the namespaces are that other packages add, by name."""
    from ahp.system import wings

    return {name: place for name, place in wings.added("facts").items() if name not in NAMESPACES}


def by_namespace(paths: "Iterable[str]") -> "dict[str, list[str]]":
    """Namespace → fields of these full paths."""
    reads: dict[str, list[str]] = {}
    for path in paths:
        name, _, field = path.partition(".")
        reads.setdefault(name, []).append(field)
    return reads


def is_list(path: str) -> bool:
    """Whether the fact at `path` is a list, as far as its namespace says; what a policy adds is not looked at."""
    name, _, field = path.partition(".")
    return is_known(name) and str(namespace(name).schema.get(field, {}).get("type", "")).startswith("list")


def is_private(path: str) -> bool:
    """Whether the value of the fact at `path`, or of what lies below it, is never logged or shown (design §7)."""
    name, _, field = path.partition(".")
    return is_known(name) and field.startswith(namespace(name).private)


def alike(name: str, one: "Settings", other: "Settings") -> bool:
    """Whether a namespace, or a command of the policy, has the same values under two policies' settings."""
    if is_known(name):
        return all(encode(getattr(one, field)) == encode(getattr(other, field)) for field in namespace(name).settings)
    return encode(one.commands.get(name)) == encode(other.commands.get(name))


class Reports(Record):
    """Where reports of other tools are found: patterns from the root; none leaves it to the namespace.

    `coverage_threshold` is a percentage, None where the issue's criticality decides.
    """

    fields = ("tests", "coverage", "coverage_threshold")
    __slots__ = fields
    tests: list[str]
    coverage: list[str]
    coverage_threshold: float | None


class Extract(Record):
    """A fact taken from a command's output: an expression over `output` and the type of what it gives."""

    fields = ("value", "type")
    __slots__ = fields
    value: str
    type: str


class Command(Record):
    """A program that finds out a fact (`facts:`), or mends something (`action: {type: run}`; `parse` and below unused).

    `run` are the program and its arguments, `directory` where from the root it runs, `timeout` seconds. It runs only
    where a changed file matches `when_changed`, if there are such patterns; in `place` (`ahp.system.wings`).
    """

    fields = ("run", "directory", "timeout", "parse", "extract", "when_changed", "place")
    __slots__ = fields
    parts = {"extract": {str: Extract}}  # noqa: RUF012
    run: list[str]
    directory: str
    timeout: float
    parse: str | None
    extract: dict[str, Extract] | None
    when_changed: list[str]
    place: str


class Settings(Record):
    """The policy's settings as far as facts need them.

    `limits` are values, or mappings by environment with `default`; `timezone` "" for the machine's; `environment` pairs
    of name and plan, None while one is being chosen; `namespaces` name → place of those read that other packages add.
    `trusted` says whether a person accepted a command; without it none runs. `compare_policies` gives the facts of
    `policy` about an event that may touch it.
    """

    fields = ("limits", "env_allow", "timezone", "reports", "commands", "environment", "namespaces")
    __slots__ = (*fields, "compare_policies", "trusted")
    parts = {"reports": Reports, "commands": {str: Command}}  # noqa: RUF012
    limits: "dict[str, Any]"
    env_allow: list[str]
    timezone: str
    reports: Reports
    commands: dict[str, Command]
    environment: "list[tuple[str, Any]] | None"
    namespaces: dict[str, str]
    if TYPE_CHECKING:
        compare_policies: Callable[[Event], dict[str, object]] | None = None
        trusted: Callable[[Command], bool] | None = None


class Absent(Exception):
    """A fact that is not available; raised, a whole namespace.

    `reason` is half a sentence for people (`no coverage report`), `command` what they run to get it, "" when no command
    helps. `unknowable` says that the change itself is the cause and no evidence is missing, so that a rule keeps its
    own intensity (authority §5); `known` is then, of a list, what could be read of it. `elsewhere` says that it can be
    known at other places only: where commits are judged from git's objects, rules that hang on it are skipped.
    """

    def __init__(
        self,
        reason: str,
        command: str = "",
        *,
        unknowable: bool = False,
        elsewhere: bool = False,
        known: "list[Any] | None" = None,
    ) -> None:
        super().__init__(reason)
        self.reason, self.command, self.known = reason, command, known
        self.unknowable, self.elsewhere = unknowable, elsewhere


def undecided(reason: str, command: str, path: str) -> str:
    """The sentence of a rule that could not be decided: which fact was missing, and what makes it."""
    from ahp.protocol.text import one_line

    text = f"cannot tell: {path} is missing" + (f" ({one_line(reason)})" if reason else "")
    return text + (f"; to get it: {one_line(command)}" if command else "")


def view_of(event: "Event", contents: "bool | None" = False) -> "View":
    """The view of an event. Raises Absent without one, and where its files, or with `contents` what is in them, are in
    doubt; None asks for no doubt.
    """
    if event.view is None:
        raise Absent("the client does not tell what the call changes")
    if contents is not None and (doubt := event.view.doubt(contents)):
        raise Absent(doubt)
    return event.view
