"""The policy file: every key of hooks.yaml, as pydantic models. This is its definition (design §4); `ahp policy schema`
and the policy reference come from it. Conditions are text here; `validate` reads them.
"""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic_core import PydanticKnownError

from ahp.policy.control import Action, BoxKeys
from ahp.policy.model_types import (
    Condition,
    Duration,
    Filter,
    Intensities,
    Keys,
    Name,
    OnMissing,
    Severity,
    Text,
    Texts,
    alone,
    as_list,
)
from ahp.policy.presets import PRESETS, Preset
from ahp.policy.program import ALONE
from ahp.protocol.triggers import FORGET_AFTER


class SuggestionKeys(Keys):
    """One suggestion to whoever reads the signal."""

    type: Text = "best_practice"
    """Its kind, for programs: `best_practice`, `follow_up`, …"""
    description: Text
    """What to do, a template like `message`."""


Suggestion = Annotated[
    SuggestionKeys, BeforeValidator(alone("description"), json_schema_input_type=str | SuggestionKeys)
]


class FindingKeys(Keys):
    """Where in a file each item of `each` is shown."""

    file: Text
    """The item's path: `l.path`."""
    line: Text | None = None
    """The item's line number: `l.line`."""
    message: Text | None = None
    """What is said there; when absent, the named groups of the condition's regexes that match: `(?P<AWS_key>…)`."""


class RuleKeys(Keys):
    """The keys that rules have in both forms."""

    let: dict[str, Condition] = Field(default={})
    """Parts of its condition, `each` and `when` by name: `{docs: glob(f, 'docs/')}`; one may name others."""
    each: Condition | None = None
    """`x in LIST`: the condition is asked of every item."""
    message: Text | None = None
    """What the signal says; `{fact.path}` stands for a value. By default it names the values the condition read."""
    severity: Severity = "medium"
    """How bad it is, for prompts: low, medium or high."""
    suggestions: list[Suggestion] = Field(default=[])
    """What could be done; a text is a best practice."""
    resolution: Texts = Field(default=[])
    """The steps that make a block pass; a template naming a list gives one step an item."""
    resolvable: bool = True
    """Whether the one who is blocked can do something about it."""
    reversible: bool | None = None
    """Whether a control action can be undone; by default all but `run` can."""
    continue_allowed: bool = True
    """What a prompt's signal says of going on, for programs; it stops nothing."""
    action: Action | None = None
    """What a control rule changes."""
    otherwise: OnMissing | None = None
    """What becomes of a call that has to run in a box where none can start: prompt, block or skip. By default block."""
    on_missing: OnMissing | None = None
    """What an undecidable rule says: prompt, block or skip. By default prompt; a locked rule blocks."""
    escalate: bool | None = None
    """Whether ignored signals climb. By default yes on `pre-*` triggers, no on tool triggers."""
    shadow: bool = False
    """Logged, never enforced."""
    locked: bool = False
    """No other layer may weaken it, and no rule softens it."""
    overridable: bool | None = None
    """Whether a person may let it pass once. By default unless locked."""
    ci: Literal["each", "range", "skip"] = "each"
    """Whether `ahp ci` asks it of each commit, once of the whole range, or not at all."""
    redact: bool = False
    """Values it read are never shown or logged."""
    finding: FindingKeys | None = None
    """Where each item is shown."""
    ask: bool = False
    """A person at a terminal is asked before going on."""


class LongRule(RuleKeys):
    """A rule of the protocol's form: a condition and an intensity (seed 002 §4.3)."""

    id: Name | None = None
    """Its name in its oracle; by default its position, from 1."""
    condition: Condition | None = None
    """When it speaks. Needed, except where an earlier layer has a rule of this id."""
    intensity: Intensities | None = None
    """How strongly: one level, or one for each environment with `default`. Needed as `condition` is."""
    refines: Text | None = None
    """The id of a rule of the same oracle that it speaks for when both match."""


class OracleKeys(Keys):
    """What an oracle says of all its rules; short rules have these keys too."""

    type: Text | None = None
    """The type of its signals; by default its name."""
    priority: Annotated[int, Field(ge=-1_000_000, le=1_000_000)] = 0
    """Lower comes first."""
    enabled: bool = True
    """Whether its rules are asked at all."""
    when: Filter | None = None
    """A condition; where it does not hold, no rule is asked. Also a mapping: `{issue.type: [feature]}`."""


class ShortRule(RuleKeys, OracleKeys):
    """A rule of the short form: where, a level with its condition, and how to mend it."""

    LEVELS: ClassVar[tuple[str, ...]] = ("block", "control", "prompt", "aid")

    at: Texts | None = None
    """The triggers it is asked at: one or a list."""
    block: Condition | None = None
    """Refuse when this holds."""
    control: Condition | None = None
    """Change the action when this holds; needs `action`."""
    prompt: Condition | None = None
    """Warn when this holds."""
    aid: Condition | None = None
    """Advise afterwards when this holds; only on `post-*` triggers and `session-start`."""
    level: Literal["block", "control", "prompt", "aid", "allow"] | None = None
    """Another level for a rule of a pack, whose condition stays as it is."""
    fix: Texts = Field(default=[])
    """How to mend it: becomes both the suggestions and the resolution."""

    @model_validator(mode="after")
    def _one_level(self) -> "ShortRule":
        given = [level for level in self.LEVELS if getattr(self, level) is not None]
        if len(given) > 1:
            raise ValueError(f"two levels, `{'` and `'.join(given)}`; a rule has one, a second needs an id of its own")
        return self


class Oracle(OracleKeys):
    """A named list of rules."""

    name: Name
    """Its name; signals give it as their source."""
    rules: list[LongRule] = Field(default=[])
    """Its rules, all of them asked."""


def _as_hook(value: object) -> object:
    return {"oracles": value} if isinstance(value, list) else value


class HookKeys(Keys):
    """What is asked at one trigger."""

    trigger: Text | None = None
    """The trigger once more; it must agree with the key."""
    when: Filter | None = None
    """A condition that must hold for any rule here to be asked."""
    oracles: list[Oracle] = Field(default=[])
    """Its oracles, in order."""


Hook = Annotated[HookKeys, BeforeValidator(_as_hook, json_schema_input_type=HookKeys | list[Oracle])]


class Escalation(Keys):
    """How ignored signals climb (design §8)."""

    ladder: list[Literal["prompt", "control", "block"]] = Field(
        default=["prompt", "control", "block"], min_length=1, max_length=3
    )
    """The rungs, from weak to strong."""
    after: Annotated[int, Field(ge=1, le=1000)] = 1
    """Attempts that a rung lasts."""
    forget_after: Duration = FORGET_AFTER
    """An episode that nothing ended is closed after this long."""

    @model_validator(mode="after")
    def _climbs(self) -> "Escalation":
        order = ["prompt", "control", "block"]
        ranks = [order.index(rung) for rung in self.ladder]
        if ranks != sorted(set(ranks)):
            raise ValueError("the ladder climbs: prompt, control, block, each at most once")
        return self


class Extract(Keys):
    """A fact taken from a command's output, with the type that conditions see."""

    value: Text
    """An expression over `output`, the parsed output."""
    type: Literal["int", "float", "bool", "str", "list[str]"]
    """What it gives."""


_Extract = Annotated[Extract, BeforeValidator(alone("value", type="int"), json_schema_input_type=str | Extract)]


class Command(Keys):
    """A fact that a command finds out. It runs only after a person accepted it with `ahp trust`."""

    preset: Preset | None = None
    """A tool whose command, parsing and counts ahp knows; keys given beside it take the place of the preset's."""
    run: Annotated[list[Text], Field(max_length=256)] = Field(default=[])
    """The program and its arguments, one text each; no shell reads them. Needed where there is no preset."""
    parse: Literal["json", "lines", "junit", "sarif", "exit"] = "exit"
    """How its output is read. Every way gives `exit_code` and `count`; junit and sarif give `findings`."""
    extract: dict[str, _Extract] = Field(default={})
    """More facts: a name and an expression over `output`; a number unless `{value, type}` says otherwise."""
    timeout: Duration = 30.0
    """After this long the whole process tree is ended and the facts are absent."""
    when_changed: Texts = Field(default=[])
    """Runs only when a changed file matches one of these patterns; else the counts are 0."""
    directory: Text = "."
    """The folder it runs in, from the root of the repository."""
    place: Text = "here"
    """Where it runs: here, or in a place that an installed package adds."""

    @model_validator(mode="before")
    @classmethod
    def _take_preset(cls, data: object, info: ValidationInfo) -> object:
        known = next(
            (spec for name, spec in PRESETS.items() if isinstance(data, dict) and data.get("preset") == name), None
        )
        if known is None or not isinstance(data, dict):
            return data
        if isinstance(info.context, dict):
            info.context[id(data)] = cls  # the errors are about the mapping that was written
        return {**known, **data}

    @model_validator(mode="after")
    def _runs(self) -> "Command":
        if not self.run:
            raise ValueError("needs `run`, a program and its arguments, or a `preset`")
        return self


class Reports(Keys):
    """Where reports of other tools are found; patterns from the root of the repository."""

    tests: Texts = Field(default=[])
    """JUnit XML files."""
    coverage: Texts = Field(default=[])
    """coverage.xml, coverage.json or lcov files."""
    coverage_threshold: Annotated[float, Field(strict=False, ge=0, le=100)] | None = None
    """The percentage `coverage.threshold` gives; by default the issue's criticality decides."""


LimitValue = str | int | float | bool | list[str]


class BranchKeys(Keys):
    """Branches that have a policy of their own."""

    ref: Text
    """The pattern of their names."""
    alone: bool = False
    """Whether no rule of the default branch's policy is asked there beside their own."""


def _as_pattern(given: BranchKeys) -> str:
    """The pattern; followed by the word `alone`, which no name of a branch can have behind a blank."""
    if " " in given.ref:
        raise ValueError("no name of a branch has a blank in it")
    return given.ref + ALONE if given.alone else given.ref


Authority = Annotated[
    list[Annotated[BranchKeys, BeforeValidator(alone("ref")), AfterValidator(_as_pattern)]],
    BeforeValidator(as_list, json_schema_input_type=str | list[str | BranchKeys]),
]


# What names no program to git, no option, nothing outside of a folder, and tells no password.
_ADDRESS = re.compile(r"(https://[^\s@]+|ssh://([\w.\-]+@)?[\w\[][^\s@]*|file:///[^\s]+|[\w.]+@[\w.\-]+:[^\s]+)")
_NAMED = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,99}")
_PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\-]*)*")


class SharedKeys(Keys):
    """A policy of another repository, which `ahp policy update` has written into this one."""

    repo: Text
    """Where it is: an address of git that begins with https://, ssh:// or file:///, or USER@HOST:PATH."""
    ref: Text
    """The version: a tag (`v3`), or else a branch."""
    path: Text = "hooks.yaml"
    """The file of the policy there."""
    name: Name | None = None
    """What it is called here, in `.ahp/vendor/NAME`; by default the last part of `repo`."""
    signers: list[Text] = Field(min_length=1)
    """Who may sign a version, a line of ssh-keygen's ALLOWED SIGNERS each: `ann@example.org ssh-ed25519 AAAA…`."""

    @model_validator(mode="after")
    def _can_be_fetched(self) -> "SharedKeys":
        if not _ADDRESS.fullmatch(self.repo) or not self.repo.isprintable():
            raise ValueError("`repo` is https://…, ssh://…, file:///… or USER@HOST:PATH, without a password")
        if not _PATH.fullmatch(self.ref) or ".." in self.ref:
            raise ValueError("`ref` is the name of a tag or of a branch")
        if not _PATH.fullmatch(self.path) or not self.path.endswith((".yaml", ".yml")) or self.path == "waivers.yaml":
            raise ValueError("`path` is a .yaml file of that repository, which is not its waivers.yaml")
        if not _NAMED.fullmatch(self.called):
            raise ValueError("the end of `repo` is no name of a folder; give a `name` of letters, digits and `_.-`")
        if any("\n" in line or "\r" in line for line in self.signers):
            raise ValueError("each of `signers` is one line")
        return self

    @property
    def called(self) -> str:
        """The name of its folder."""
        return self.name or self.repo.rstrip("/").rpartition("/")[2].rpartition(":")[2].removesuffix(".git")


def _text_as_it_is(given: object, validate: ValidatorFunctionWrapHandler) -> str | SharedKeys:
    if isinstance(given, dict):
        return validate(given)  # type: ignore[no-any-return]
    if not isinstance(given, str):
        raise PydanticKnownError("string_type")
    return given


Extends = Annotated[
    list[Annotated[SharedKeys, WrapValidator(_text_as_it_is)]],
    BeforeValidator(as_list, json_schema_input_type=str | list[str | SharedKeys]),
]


class HooksFile(Keys):
    """A policy file: `.ahp/hooks.yaml`, `~/.ahp/hooks.yaml`, `.ahp/hooks.local.yaml`, or a pack."""

    version: Literal[1] = 1
    """The version of this format."""
    requires: Text | None = None
    """The ahp versions that can read it: `>=0.3` or `>=0.3,<1`. Read before everything else."""
    extends: Extends = Field(default=[])
    """What this file changes and adds to: packs by name, files inside this file's folder (ending in .yaml), and
    policies of other repositories."""
    mode: Literal["enforce", "observe"] = "enforce"
    """`observe` logs every signal and enforces none."""
    limits: dict[str, LimitValue | dict[str, LimitValue]] = Field(default={})
    """Constants that conditions read as `limits.NAME`; a mapping gives one for each environment, with `default`."""
    conditions: dict[str, Condition] = Field(default={})
    """Parts of conditions that rules share, which they name as `conditions.NAME`."""
    environment: dict[Name, Condition] = Field(default={})
    """Names with conditions; the first that holds is the environment, else `development`."""
    env_allow: Texts = Field(default=[])
    """Environment variables that conditions may read as `env.NAME`."""
    timezone: Text | None = None
    """The zone of `time.*`, as in `Europe/Vienna`; by default the machine's."""
    reports: Reports = Reports()
    """Where reports are found."""
    escalation: Escalation | None = None
    """How ignored signals climb; absent, nothing does."""
    facts: dict[str, Command] = Field(default={})
    """Facts that commands find out, read as `NAME.count` and the like."""
    software_keys: bool = False
    """Whether an approver's SSH key may lie in a file: otherwise only one in hardware, which has to be touched, lets a
    rule pass in CI."""
    authority: Authority = Field(default=[])
    """Branches that have a policy of their own, as patterns of the whole name: what goes there is judged by its
    own, and by the locked and severe rules of the default branch's. The default branch always is one; what goes to any
    other ref is judged by the default branch's policy."""
    box: BoxKeys = BoxKeys()
    """What is otherwise than by default in every box."""
    rules: dict[Name, ShortRule] = Field(default={})
    """Rules in the short form, by id."""
    hooks: dict[str, Hook] = Field(default={})
    """Rules in the protocol's form, by trigger."""
