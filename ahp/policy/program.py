"""The compiled policy: `compile` writes it, the gate judges by it, explain and history show it.  [light]

What is cached of it follows from the fields of these classes. The light half decides whether a rule matches; the other,
`Answers`, says what happens then, and is read only when one does.
"""

from ahp.facts.registry import Command, Settings
from ahp.system.jsontext import Record

FIXED_AT = ("pre-commit", "pre-merge-commit")
"""Where fixers run: what is staged is not committed yet."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class RulePlan(Record):
    """How one rule is asked.

    `plan` is its condition; with `each` that is asked of every item, called `var`, of the list that `items` gives (else
    "" and None). `when` is the index of its filter among the program's, -1 without one. A `costly` rule reads what is
    gathered only if it is undecided without. Of one that `skips`, nobody hears where evidence for it is missing.

    One with a `box` gives no signal: a call that it holds of runs in a box with these `keys`; `otherwise` says what
    becomes of it where none can start, `reads` which facts it is about.
    """

    fields = ("key", "plan", "var", "items", "when", "costly", "skips", "box")
    __slots__ = fields
    key: str
    plan: "list[Any]"
    var: str
    items: "list[Any] | None"
    when: int
    costly: bool
    skips: bool
    box: "dict[str, Any] | None"


class Program(Record):
    """The policy as far as one trigger needs it.

    `policy` is the digest of what judges, the same for all triggers; `triggers` are those that have rules. `sources`
    are (path, digest) of every file that took part, None for one that is absent: the project's layer first. `slots` are
    the fact paths that plans read by index, `reads` the same by namespace, `whens` the plans of the filters. `costly`
    are the namespaces that are gathered only for rules undecided without them; `stages` says that a fixer may stage.

    `box` are the keys of every box.

    `answers` is None until it is read from beside `path`, where this half was found.
    """

    fields = (
        "trigger", "policy", "triggers", "sources", "settings", "slots", "reads", "whens", "rules", "costly", "stages",
        "box",
    )  # fmt: skip
    __slots__ = (*fields, "answers", "path")
    parts = {"settings": Settings, "rules": [RulePlan]}  # noqa: RUF012
    trigger: str
    policy: str
    triggers: list[str]
    sources: list[tuple[str, str | None]]
    settings: Settings
    slots: list[str]
    reads: dict[str, list[str]]
    whens: "list[list[Any]]"
    rules: list[RulePlan]
    costly: list[str]
    stages: bool
    box: dict[str, list[str]]
    if TYPE_CHECKING:
        answers: "Answers | None" = None
        path: str | None = None


class Suggestion(Record):
    """A piece of advice of a rule, a template like its message."""

    fields = ("type", "description")
    __slots__ = fields
    type: str
    description: str


class Finding(Record):
    """Where an item of `each` stands, by paths such as `l.path`, and the message for it.

    `kinds` are the condition's regexes with named groups, each after the field that it matches ("" for the item
    itself). Without a message, the names of the groups that match are the message.
    """

    fields = ("file", "line", "message", "kinds")
    __slots__ = fields
    file: str
    line: str | None
    message: str | None
    kinds: list[list[str]]


class Action(Record):
    """What a control rule does; of the fields after `type` those are set that its type has."""

    fields = ("type", "target", "value", "min", "max", "pattern", "with_", "command", "max_batch", "stage", "more")
    __slots__ = fields
    parts = {"command": Command}  # noqa: RUF012
    type: str
    target: str | None
    value: object
    min: float | None
    max: float | None
    pattern: str | None
    with_: str | None
    command: Command | None
    max_batch: int | None
    stage: bool | None
    more: "dict[str, Any] | None"  # the keys of an action that another package adds


class RuleAnswer(Record):
    """What one rule says when it matches: the keys of the policy file with the defaults filled in.

    `intensity` maps environments and `default` to levels; `refines` the keys of the rules that it speaks for to the
    reason. `condition`, `each` and `when` are texts; `reads` and `shows` the fact paths that these and its sentences
    name. `position` is where its condition stands, `digest` names the rule as long as it means the same.
    """

    fields = (
        "id", "oracle", "type", "priority", "intensity", "message", "severity", "suggestions", "resolution",
        "resolvable", "reversible", "continue_allowed", "action", "on_missing", "escalates", "shadow", "locked",
        "overridable", "refines", "ci", "redact", "finding", "ask", "condition", "each", "when", "reads", "shows",
        "position", "digest",
    )  # fmt: skip
    __slots__ = fields
    parts = {"suggestions": [Suggestion], "action": Action, "finding": Finding}  # noqa: RUF012
    id: str
    oracle: str
    type: str
    priority: int
    intensity: dict[str, str]
    message: str | None
    severity: str
    suggestions: list[Suggestion]
    resolution: list[str]
    resolvable: bool
    reversible: bool
    continue_allowed: bool
    action: Action | None
    on_missing: str
    escalates: bool
    shadow: bool
    locked: bool
    overridable: bool
    refines: dict[str, str]
    ci: str
    redact: bool
    finding: Finding | None
    ask: bool
    condition: str
    each: str | None
    when: str | None
    reads: list[str]
    shows: list[str]
    position: str
    digest: str


class Escalation(Record):
    """The policy's `escalation`: rungs from weak to strong, attempts that each lasts, seconds until it is forgotten."""

    fields = ("ladder", "after", "forget_after")
    __slots__ = fields
    ladder: list[str]
    after: int
    forget_after: float


ALONE = " alone"  # behind a pattern of `authority:`


class Answers(Record):
    """The other half of a program: its rules by key, and how they speak together."""

    fields = ("trigger", "policy", "mode", "escalation", "authority", "software_keys", "rules")
    __slots__ = fields
    parts = {"escalation": Escalation, "rules": {str: RuleAnswer}}  # noqa: RUF012
    trigger: str
    policy: str
    mode: str
    escalation: Escalation | None
    authority: list[str]
    software_keys: bool
    rules: dict[str, RuleAnswer]
