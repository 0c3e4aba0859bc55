"""`schemas/`: the JSON Schema of hooks.yaml as SchemaStore takes it. AHP_TEST_WRITE_DOCS=1 writes it anew."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from ahp.policy.jsonschema import schema

PROJECT = Path(__file__).resolve().parents[2]
FILE = PROJECT / "schemas/ahp-hooks.json"
PACKS = sorted((PROJECT / "ahp/policy/packs").glob("*.yaml"))
CATALOG = json.loads((PROJECT / "schemas/catalog-entry.json").read_text("utf-8"))


def draft_07() -> dict[str, Any]:
    """The schema in the draft that SchemaStore asks for, with its address first."""
    made = json.loads(json.dumps(schema()).replace('"#/$defs/', '"#/definitions/'))
    made["definitions"] = made.pop("$defs")
    made |= {"$schema": "http://json-schema.org/draft-07/schema#", "$id": CATALOG["url"]}
    made["description"] = CATALOG["description"]
    first = ("$schema", "$id", "title", "description", "type")
    return {name: made[name] for name in (*first, *sorted(made.keys() - set(first)))}


def test_the_file_is_the_schema_that_the_program_prints() -> None:
    text = json.dumps(draft_07(), indent=2, ensure_ascii=False) + "\n"
    if os.environ.get("AHP_TEST_WRITE_DOCS"):
        FILE.write_text(text, "utf-8")
    assert FILE.read_text("utf-8") == text, "run it with AHP_TEST_WRITE_DOCS=1"


def test_it_is_a_schema_of_that_draft_and_needs_no_other_file() -> None:
    made = json.loads(FILE.read_text("utf-8"))
    jsonschema.Draft7Validator.check_schema(made)
    assert not {"prefixItems", "dependentRequired", "unevaluatedProperties", "$dynamicRef", "minContains"} & keys(made)
    assert CATALOG["fileMatch"] == [".ahp/hooks.yaml", ".ahp/hooks.local.yaml"]


def keys(value: object) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(keys, value.values()))
    return set().union(*map(keys, value)) if isinstance(value, list) else set()


@pytest.mark.parametrize("path", [PROJECT / ".ahp/hooks.yaml", *PACKS], ids=lambda path: path.name)
def test_policies_fit_it(path: Path) -> None:
    jsonschema.Draft7Validator(json.loads(FILE.read_text("utf-8"))).validate(yaml.safe_load(path.read_text("utf-8")))


@pytest.mark.parametrize(
    "wrong",
    ["version: 1\nrules: {a: {at: pre-comit, block: 'true'}}", "version: 1\nrulez: {}", "version: one"],
)
def test_a_misspelled_policy_does_not(wrong: str) -> None:
    validator = jsonschema.Draft7Validator(json.loads(FILE.read_text("utf-8")))
    assert not validator.is_valid(yaml.safe_load(wrong))
