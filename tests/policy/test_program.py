"""The compiled policy is typed: every key of the file is in it, every field of it is read, and JSON holds it."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ahp
from ahp.facts import registry
from ahp.policy import compile as compiling
from ahp.policy import models, program
from ahp.policy.models import HooksFile, LongRule, OracleKeys
from ahp.system import jsontext
from ahp.system.jsontext import Record

from .conftest import Load

PACKAGE = Path(ahp.__file__).parent
RECORDS = [
    found
    for module in (program, registry)
    for found in vars(module).values()
    if isinstance(found, type) and issubclass(found, Record) and found is not Record
]

# A value for each key that differs from its default. The first three of each are what a rule cannot be without.
RULE: dict[str, Any] = {
    "id": "r",
    "condition": "push.is_force",
    "intensity": "prompt",
    "each": "f in files.changes",
    "message": "no",
    "severity": "high",
    "suggestions": ["x"],
    "resolution": ["x"],
    "resolvable": False,
    "reversible": False,
    "continue_allowed": False,
    "action": {"type": "split_suggestion", "max_batch": 2},
    "on_missing": "skip",
    "escalate": False,
    "shadow": True,
    "locked": True,
    "overridable": False,
    "ci": "skip",
    "redact": True,
    "finding": {"file": "f.path"},
    "ask": True,
    "refines": "s",
    "otherwise": "prompt",
    "let": {"part": "push.is_new"},
}
ORACLE: dict[str, Any] = {"type": "x", "priority": 1, "enabled": False, "when": "push.is_new"}
FILE: dict[str, Any] = {
    "mode": "observe",
    "limits": {"x": 1},
    "conditions": {"part": "push.is_new"},
    "environment": {"production": "branch.is_default"},
    "env_allow": ["X"],
    "timezone": "UTC",
    "authority": ["release/*"],
    "software_keys": True,
    "reports": {"tests": ["x.xml"]},
    "escalation": {"after": 2},
    "facts": {"lint": {"run": ["x"]}},
    "box": {"hidden": ["x"]},
    "rules": {"t": {"at": "pre-push", "block": "push.is_new"}},
}
# Only a rule that says where a call runs has `otherwise`.
BOXING = {"at": "pre-tool-use", "control": "tool.name == 'shell'", "action": {"type": "sandbox"}}
READ_FIRST = {"version", "requires", "extends", "hooks"}  # how the file is read; the rest of the tests are about them


def policy(rule: dict[str, Any], oracle: dict[str, Any] | None = None, **top: Any) -> str:
    """A policy of two rules in one oracle; the first has these keys."""
    other = {"id": "s", "condition": "push.is_force", "intensity": "prompt"}
    return jsontext.encode({**top, "hooks": {"pre-push": [{"name": "o", **(oracle or {}), "rules": [rule, other]}]}})


def compiled(load: Load, text: str) -> str:
    return jsontext.encode([[one, one.answers] for one in compiling.programs(load(text)).values()])


BASE = {name: RULE[name] for name in ("id", "condition", "intensity")}


@pytest.mark.parametrize("key", [name for name in LongRule.model_fields if name not in BASE])
def test_every_key_of_a_rule_is_in_what_is_compiled(load: Load, key: str) -> None:
    base = {**BASE, "condition": "push.is_force and push.is_new"} if key == "refines" else BASE
    if key == "let":
        one, two = ({**base, "condition": "part", key: {"part": text}} for text in ("push.is_force", "push.is_new"))
        assert compiled(load, policy(one)) != compiled(load, policy(two))
        return
    if key == "finding":
        base = {**base, "each": RULE["each"]}
    if key == "otherwise":
        one, two = [jsontext.encode({"rules": {"b": {**BOXING, **more}}}) for more in ({}, {key: RULE[key]})]
        assert compiled(load, one) != compiled(load, two)
        return
    assert compiled(load, policy({**base, key: RULE[key]})) != compiled(load, policy(base))


@pytest.mark.parametrize("key", OracleKeys.model_fields)
def test_every_key_of_an_oracle_is_in_what_is_compiled(load: Load, key: str) -> None:
    assert compiled(load, policy(BASE, {key: ORACLE[key]})) != compiled(load, policy(BASE))


@pytest.mark.parametrize("key", [name for name in HooksFile.model_fields if name not in READ_FIRST])
def test_every_top_level_key_is_in_what_is_compiled(load: Load, key: str) -> None:
    if key == "conditions":
        base, parts = {**BASE, "condition": "conditions.part"}, ({"part": "push.is_force"}, FILE[key])
        assert len({compiled(load, policy(base, **{key: part})) for part in parts}) == 2
        return
    assert compiled(load, policy(BASE, **{key: FILE[key]})) != compiled(load, policy(BASE))


@pytest.mark.slow
def test_every_field_of_a_program_has_a_reader() -> None:
    read = set()
    for path in PACKAGE.rglob("*.py"):
        if path.name not in ("compile.py", "program.py", "registry.py"):
            read |= {node.attr for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.Attribute)}
    fields = {f"{record.__name__}.{name}" for record in RECORDS for name in record.fields if name not in read}
    assert fields == set()


@pytest.mark.parametrize("record", RECORDS)
def test_a_record_has_a_type_for_each_of_its_slots(record: type[Record]) -> None:
    assert record.__slots__[: len(record.fields)] == record.fields
    assert list(record.__annotations__) == list(record.fields)
    assert record.parts.keys() <= set(record.fields)


@pytest.mark.parametrize(
    ("key", "was", "becomes"),
    [
        ("severity", 'severity: Severity = "medium"', 'severity: Severity = "low"'),
        ("resolvable", "resolvable: bool = True", "resolvable: bool = False"),
        ("priority", '= 0\n    """Lower comes first', '= 7\n    """Lower comes first'),
    ],
)
@pytest.mark.slow
def test_a_default_that_changes_in_the_models_changes_schema_and_engine(
    tmp_path: Path, key: str, was: str, becomes: str
) -> None:
    shutil.copytree(PACKAGE, tmp_path / "ahp", ignore=shutil.ignore_patterns("__pycache__"))
    code = (
        "from ahp.policy import compile, jsonschema, layers\n"
        "from ahp.policy.sources import TextSource\n"
        "made = compile.programs(layers.load(TextSource('rules: {r: {at: pre-push, block: push.is_new}}')))\n"
        f"print(jsonschema.schema()['$defs']['ShortRule']['properties']['{key}']['default'])\n"
        f"print(made['pre-push'].answers.rules['r'].{key})"
    )

    def default() -> str:
        argv = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{code}"]
        schema, engine = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()
        assert schema == engine
        return schema

    before = default()
    source = tmp_path / "ahp" / "policy" / "models.py"
    text = source.read_text()
    assert was in text
    source.write_text(text.replace(was, becomes))
    os.utime(source, (1, 1))
    assert default() != before


def test_the_models_state_each_default_that_the_program_has(load: Load) -> None:
    answers = compiling.programs(load(policy(BASE)))["pre-push"].answers
    assert answers is not None
    plain = {name: field.get_default() for name, field in models.RuleKeys.model_fields.items()}
    derived = {
        "each",
        "let",
        "reversible",
        "on_missing",
        "escalate",
        "overridable",
        "otherwise",
    }  # from the rest of the rule when not given
    assert {name: getattr(answers.rules["o/r"], name) for name in plain.keys() - derived} == {
        name: value for name, value in plain.items() if name not in derived
    }
