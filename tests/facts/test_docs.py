"""docs/facts.md holds every namespace and field with type and triggers; docs/reports.md's examples work.

Set AHP_TEST_WRITE_DOCS=1 to write the generated part anew.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from ahp.facts import command_facts, coverage, registry, report_files, schemas, tests
from ahp.policy.presets import PRESETS

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
BEGIN = "AHP_TEST_WRITE_DOCS=1 pytest tests/facts/test_docs.py -->\n"
END = "<!-- end of the generated part -->"

NAMED = {
    registry.ALL: "all",
    registry.TREE: "all but tool calls and new sessions",
    ("commit-msg", "post-commit"): "message",
    registry.COMMIT: "commits",
    registry.ISSUE: "issues",
    registry.AGENT: "agents",
    registry.TOOL: "`pre-tool-use`, `post-tool-use`",
}


def kind_of(entry: dict[str, Any]) -> str:
    kind = str(entry["type"])
    if "enum" in entry:
        kind += ": " + ", ".join(entry["enum"])
    elif entry.get("max") is not None:
        kind += f", {entry['min']:g}–{entry['max']:g}"
    return kind + (" or null" if entry.get("nullable") else "") + ("?" if entry.get("optional") else "")


def triggers_of(names: Iterable[str]) -> str:
    return NAMED.get(tuple(names)) or ", ".join(f"`{name}`" for name in names)


def reference(name: str, declared: registry.Namespace) -> list[str]:
    """The section of one namespace: what holds for most of its facts is said once, above the table."""
    first = (registry.module(name).__doc__ or "").split("\n\n")[0]
    about = " ".join(first.replace(" (design §6)", "").replace("[light]", "").split()).partition(": ")[2]
    shown, parts = folded(declared.schema)
    notes = [f"{about[0].upper()}{about[1:]}"]
    notes += [f"Triggers: {triggers_of(declared.triggers)}."] if declared.triggers != registry.CHANGE else []
    if declared.certain not in (registry.ALL, ()):
        notes.append(f"May be absent outside {triggers_of(declared.certain)}.")
    notes += ["Absent for past commits."] if declared.past else []
    if parts:
        notes.append(f"{', '.join(f'`{name}.{part}.…`' for part in parts)} have the same.")
    lines = ["", f"## `{name}`", "", " ".join(notes), "", "| fact | |", "| --- | --- |"]
    listed: list[dict[str, Any]] = []  # enumerations, which a table shows once
    for field, entry in shown.items():
        path = schemas.full_path(name, field)
        inner = entry.get("fields", {})
        alike = [part for part, one in inner.items() if not one["doc"] and ("enum" not in one or one in listed)]
        listed += [one for one in inner.values() if "enum" in one]
        kinds = [f"`{part}`" + (f" {inner[part]['type']}" if inner[part]["type"] != "str" else "") for part in alike]
        doc = "; ".join([entry["doc"].replace("|", "\\|"), *([", ".join(kinds)] if kinds else [])])
        private = ", private" if registry.is_private(path) else ""
        known = entry.get("triggers", declared.triggers)
        where = "" if tuple(known) == declared.triggers else f"; {triggers_of(known)}"
        lines.append(f"| `{path}` {kind_of(entry)}{private} | {doc}{where} |")
        lines += [f"| `[…].{part}` {kind_of(one)} | {one['doc']} |" for part, one in inner.items() if part not in alike]
    return lines


def folded(schema: Mapping[str, dict[str, Any]]) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """The facts without those of parts that have the same ones as the whole, and the names of these parts."""
    whole = {field for field in schema if "." not in field}
    parts = list(dict.fromkeys(field.partition(".")[0] for field in schema if "." in field))
    alike = [
        one for one in parts if {field.partition(".")[2] for field in schema if field.startswith(f"{one}.")} == whole
    ]
    return {field: entry for field, entry in schema.items() if field.partition(".")[0] not in alike}, alike


def generated() -> str:
    found = registry.declared().items()
    return "\n".join(line for name, one in found if one.schema for line in reference(name, one)) + "\n\n"


def test_the_reference_of_facts_is_that_of_the_schemas() -> None:
    page = DOCS / "facts.md"
    head, _, rest = page.read_text().partition(BEGIN)
    _, _, tail = rest.partition(END)
    fresh = head + BEGIN + generated() + END + tail
    if os.environ.get("AHP_TEST_WRITE_DOCS"):
        page.write_text(fresh)
    assert page.read_text() == fresh


def examples() -> list[dict[str, Any]]:
    blocks = re.findall(r"```yaml\n(.*?)```", (DOCS / "evidence.md").read_text(), re.DOTALL)
    return [yaml.safe_load(block) for block in blocks]


def test_the_commands_of_the_evidence_page_are_sound() -> None:
    seen = set()
    for example in examples():
        for name, spec in (example.get("facts") or {}).items():
            seen.add(name)
            spec = {**PRESETS.get(spec.get("preset"), {}), **spec}
            assert spec["parse"] in command_facts.OUTPUT_TYPES
            for one in (spec.get("extract") or {}).values():
                command_facts.plan(one if isinstance(one, str) else one["value"], spec["parse"])
    assert {"ruff", "mypy", "eslint", "pytest"} <= seen


def test_the_page_names_the_places_that_are_looked_at() -> None:
    text = (DOCS / "evidence.md").read_text()
    for pattern in (*tests._DEFAULT, *coverage._DEFAULT):
        assert f"`{pattern}`" in text
    assert str(report_files.REPORT_LIMIT >> 20) + " MiB" in text
