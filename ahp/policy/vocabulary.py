"""What the conditions of one policy may read at each trigger: built-in facts and the policy's own (design §4, §6)."""

import keyword
import re
from collections.abc import Mapping
from functools import cache, cached_property
from typing import Any
from zoneinfo import available_timezones

from ahp.conditions.checker import LITERALS
from ahp.conditions.globs import PatternError, glob
from ahp.conditions.language import FUNCTION, LOOP, callables
from ahp.conditions.parts import SHARED
from ahp.conditions.schema import Schema
from ahp.facts import command_facts, registry, schemas
from ahp.policy.problems import Problem, nearest
from ahp.policy.program import ALONE
from ahp.policy.raw import Field, RawPolicy

Entry = dict[str, Any]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}\Z")
# names the condition language keeps for itself
_RESERVED = {*keyword.kwlist, *callables(FUNCTION), *callables(LOOP), *LITERALS, "output", "item", "limits", SHARED}
DEVELOPMENT = "development"


@cache
def _built_in(trigger: str, namespaces: tuple[str, ...]) -> Schema:
    """What rules of `trigger`, or of any ("") may read in every policy; `namespaces` are all that are registered.

    Kept, for to make it takes longer than to check most policies, and a commit is judged by several.
    """
    return Schema(schemas.schema_for(trigger) if trigger else schemas.schema_all())


class Vocabulary:
    """The fact schemas of a policy, one a trigger, and the limits that are constants."""

    def __init__(self, raw: RawPolicy) -> None:
        self.raw = raw
        self._schemas: dict[str, Schema] = {}

    def schema(self, trigger: str) -> Schema:
        """What rules of `trigger` may read."""
        if trigger not in self._schemas:
            self._schemas[trigger] = _built_in(trigger, tuple(registry.declared())).extended(self.own_entries)
        return self._schemas[trigger]

    @cached_property
    def everything(self) -> Schema:
        """What any trigger may read."""
        return _built_in("", tuple(registry.declared())).extended(self.own_entries)

    @cached_property
    def for_environments(self) -> Schema:
        """What conditions of `environment` may read: each variable they name, too, since they never show its value."""
        named: set[str] = set()
        for field in self.raw.environment.values():
            named.update(re.findall(r"\benv\.([A-Za-z_][A-Za-z0-9_]*)", field.value))
        entries = {**schemas.schema_all(), **self.own_entries, **schemas.env_schema(sorted(named))}
        return Schema({path: entry for path, entry in entries.items() if path != "environment"})

    @cached_property
    def own_entries(self) -> dict[str, Entry]:
        """The entries of the policy's limits, allowed variables and command facts."""
        limits = {name: field.value for name, field in self.raw.limits.items()}
        commands = {name: field.value for name, field in self.raw.facts.items()}
        return schemas.own_entries(self.raw.env_allow, limits, commands)

    @cached_property
    def constants(self) -> dict[str, Any]:
        """The limits that are the same in every environment, by full path."""
        return {f"limits.{name}": f.value for name, f in self.raw.limits.items() if not isinstance(f.value, dict)}

    @cached_property
    def variants(self) -> dict[str, list[Any]]:
        """All values of each limit that differs by environment, by full path."""
        limits = self.raw.limits.items()
        return {f"limits.{name}": list(f.value.values()) for name, f in limits if isinstance(f.value, dict)}

    @cached_property
    def shared(self) -> dict[str, str]:
        """The policy's named conditions, by the names that rules have for them."""
        return {f"{SHARED}.{name}": field.value for name, field in self.raw.conditions.items()}

    def may_name(self, name: str, schema: Schema) -> bool:
        """Whether a part of a rule can be called so: it is a word, and means nothing yet."""
        return bool(_NAME.match(name)) and name not in _RESERVED and name not in schema.namespaces

    @cached_property
    def environments(self) -> list[str]:
        """The names an environment can have."""
        return [*dict.fromkeys([*self.raw.environment, DEVELOPMENT])]

    def problems(self) -> list[Problem]:
        """What is wrong with the names and values that the policy defines for its conditions."""
        return [*self._bad_names(), *self._bad_limits(), *self._bad_settings()]

    def _bad_names(self) -> list[Problem]:
        problems = []
        kinds = {"limit": self.raw.limits, "condition": self.raw.conditions, "variable": self.raw.env_allow}
        for kind, named in {**kinds, "fact": self.raw.facts}.items():
            for name, field in named.items():
                if not _NAME.match(name):
                    what = f"the {kind} `{name[:60]}` cannot be named in a condition; use letters, digits and `_`"
                    problems.append(Problem(field.key_place, what))
        for name, field in self.raw.facts.items():
            if name in registry.NAMESPACES or name in _RESERVED:
                problems.append(Problem(field.key_place, f"`{name}` is ahp's own; call the fact `{name}_check` or so"))
            problems += [
                Problem(field.place, f"the fact `{name}.{extra[:60]}` cannot be named in a condition")
                for extra in field.value.extract
                if not _NAME.match(extra)
            ]
            problems += _bad_extracts(field)
        for name, field in self.raw.environment.items():
            if name in ("default", DEVELOPMENT):
                what = f"`{name}` is what holds when no environment does; leave it out"
                problems.append(Problem(field.key_place, what))
        return problems

    def _bad_limits(self) -> list[Problem]:
        problems = []
        for name, field in self.raw.limits.items():
            if isinstance(field.value, dict):
                if "default" not in field.value:
                    problems.append(Problem(field.place, f"the limit `{name}` needs a value for `default`"))
                problems += self.unknown_environments(field.value, field.place, f"the limit `{name}`")
                if schemas.limit_entry(field.value) is None:
                    what = f"the limit `{name}` has values of several types; one limit has one type"
                    problems.append(Problem(field.place, what))
        return problems

    def unknown_environments(self, named: Mapping[str, object], place: Any, what: str) -> list[Problem]:
        """A problem for each key that is neither `default` nor an environment of this policy."""
        valid = ["default", *self.environments]
        return [
            Problem(place, f"{what} names the environment `{name[:60]}`, which is not defined{nearest(name, valid)}")
            for name in named
            if name not in valid
        ]

    def _bad_settings(self) -> list[Problem]:
        problems = []
        zone = self.raw.settings.get("timezone")
        if zone is not None and zone.value is not None and zone.value not in available_timezones():
            hint = nearest(zone.value, available_timezones())
            problems.append(Problem(zone.place, f"no time zone is called `{zone.value[:60]}`{hint}"))
        problems += self._bad_authority()
        for name, field in self.raw.reports.items():
            problems += [
                Problem(field.place, f"`{name}` names a path inside the repository, not {path[:60]!r}")
                for path in (field.value if isinstance(field.value, list) else ())
                if leaves_root(path)
            ]
        for field in self.raw.facts.values():
            problems += [
                Problem(field.place, f"`when_changed`: {pattern[:60]!r}: {why}")
                for pattern in field.value.when_changed or ()
                if (why := _no_glob(pattern))
            ]
            if leaves_root(field.value.directory):
                problems.append(Problem(field.place, "`directory` is a folder inside the repository"))
        return problems

    def _bad_authority(self) -> list[Problem]:
        field = self.raw.settings.get("authority")
        if field is None or not field.value:
            return []
        if field.layer in ("user", "local"):
            return [Problem(field.place, "`authority` belongs to the project's policy: a push reads no other layer")]
        problems = []
        for pattern in field.value:
            if pattern.startswith("refs/") and not pattern.startswith("refs/heads/"):
                what = f"`authority` names branches; {pattern[:60]!r} is judged by the default branch's policy"
                problems.append(Problem(field.place, what))
                continue
            if why := _no_glob(pattern.removeprefix("refs/heads/").removesuffix(ALONE)):
                problems.append(Problem(field.place, f"`authority`: {pattern[:60]!r}: {why}"))
        return problems


def _no_glob(pattern: str) -> str:
    """Why a pattern is none; "" where it is one."""
    try:
        glob(pattern)
    except PatternError as error:
        return str(error)
    return ""


def _bad_extracts(field: Field) -> list[Problem]:
    problems = []
    for name, taken in field.value.extract.items():
        try:
            command_facts.plan(taken.value, field.value.parse)
        except command_facts.ExtractError as error:
            problems.append(Problem(field.place, f"`extract`: `{name[:60]}`: {error}"))
    return problems


def leaves_root(path: str) -> bool:
    """Whether a path from the root of a repository points outside it."""
    return path.startswith(("/", "~")) or ".." in path.split("/") or "\0" in path
