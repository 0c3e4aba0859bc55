"""A policy before it is checked: what each part says, where it stands, which layer gave it (design §4)."""

from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from ahp.policy.model_types import Keys
from ahp.policy.models import HooksFile, LongRule, OracleKeys, Reports
from ahp.policy.problems import Place


class Field(NamedTuple):
    """A value of the policy with its key's place, the place of its text, and the layer that gave it."""

    value: Any
    key_place: Place
    place: Place
    layer: str


Fields = dict[str, Field]


@dataclass(slots=True)
class RuleDraft:
    """A rule before it is checked. `layer` and `place` are those of its first definition."""

    id: str | None
    fields: Fields
    layer: str
    place: Place


@dataclass(slots=True)
class OracleDraft:
    """An oracle before it is checked."""

    name: str
    fields: Fields
    rules: list[RuleDraft] = field(default_factory=list)


@dataclass(slots=True)
class HookDraft:
    """What is asked at one trigger, before it is checked."""

    when: Field | None = None
    oracles: dict[str, OracleDraft] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RawRule:
    """One rule at one trigger, both forms alike; its conditions are unread text.

    `key` is `oracle/id`, or the id alone for a rule of the short form. `filters` are the `when`s that all must hold.
    Its `let` has a field for each part.
    """

    trigger: str
    oracle: str
    id: str
    key: str
    fields: Fields
    oracle_fields: Fields
    filters: tuple[Field, ...]
    layer: str
    place: Place

    def get(self, name: str) -> Any:
        """The value of a rule key, its model's default when it was not given."""
        return _value(self.fields, name, LongRule)

    def of_oracle(self, name: str) -> Any:
        """The value of a key of its oracle, its model's default when it was not given."""
        return _value(self.oracle_fields, name, OracleKeys)

    def where(self, *names: str) -> Place:
        """The place of the first of these keys that was given, to its oracle too, else of the rule."""
        given = {**self.oracle_fields, **self.fields}
        return next((given[name].place for name in names if name in given), self.place)


@dataclass(slots=True)
class RawPolicy:
    """All files merged. Its shape is right, its conditions are unread."""

    settings: Fields = field(default_factory=dict)
    limits: Fields = field(default_factory=dict)
    conditions: Fields = field(default_factory=dict)
    environment: Fields = field(default_factory=dict)
    facts: Fields = field(default_factory=dict)
    reports: Fields = field(default_factory=dict)
    env_allow: Fields = field(default_factory=dict)
    short: dict[str, RuleDraft] = field(default_factory=dict)
    hooks: dict[str, HookDraft] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)

    def setting(self, name: str) -> Any:
        """A top-level value, its model's default when no file gives it."""
        return _value(self.settings, name, HooksFile)

    def report(self, name: str) -> Any:
        """A value of `reports`, its model's default when no file gives it."""
        return _value(self.reports, name, Reports)


def _value(given: Fields, name: str, model: type[Keys]) -> Any:
    found = given.get(name)
    return _default(name, model) if found is None else found.value


@cache
def _default(name: str, model: type[Keys]) -> Any:
    return model.model_fields[name].get_default()
