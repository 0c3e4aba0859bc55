"""docs/facts.md holds every namespace and field with type and triggers; docs/evidence.md's examples work.

Set AHP_TEST_WRITE_DOCS=1 to write the generated part anew.
"""

from __future__ import annotations

import os
import re
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

from ahp.facts import coverage, evidence, extract, groups, schemas, tests
from ahp.facts.registry import NAMESPACES
from ahp.policy.presets import PRESETS

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
BEGIN = "AHP_TEST_WRITE_DOCS=1 pytest tests/facts/test_docs.py -->\n"
END = "<!-- end of the generated part -->"

NAMED = {
    groups.ALL: "all",
    groups.CHANGE: "all but `prompt-submit` and `session-start`",
    groups.COMMIT: "`pre-commit`, `commit-msg`, `pre-merge-commit`, `post-commit`",
    groups.AGENT: "`pre-tool-use`, `post-tool-use`, `prompt-submit`, `session-start`, `task-complete`",
}


def kind_of(entry: dict[str, Any]) -> str:
    kind = str(entry["type"])
    if "enum" in entry:
        kind += ": " + ", ".join(entry["enum"])
    elif entry.get("max") is not None:
        kind += f", {entry['min']} to {entry['max']}"
    return kind + (" or null" if entry.get("nullable") else "")


def generated() -> str:
    lines: list[str] = []
    entries = schemas.schema_all()
    for namespace, paths in groupby(entries, lambda path: path.partition(".")[0]):
        module = import_module(NAMESPACES[namespace])
        about = " ".join((module.__doc__ or "").split("\n\n")[0].split())
        lines += ["", f"## {about.split(':')[0]}", "", about.partition(": ")[2].replace(" (design §6)", "")]
        lines += ["", "| fact | type | triggers | |", "| --- | --- | --- | --- |"]
        for path in paths:
            entry = entries[path]
            where = tuple(entry.get("triggers") or groups.ALL)  # type: ignore[call-overload]
            shown = NAMED.get(where) or ", ".join(f"`{name}`" for name in where)
            doc = str(entry["doc"]).replace("|", "\\|")
            certain = getattr(module, "CERTAIN", None)
            if entry.get("optional"):
                doc += "; may be absent"
            elif certain:
                doc += "; may be absent outside issue triggers"
            lines.append(f"| `{path}` | {kind_of(entry)} | {shown} | {doc} |")
            for name, field in (entry.get("fields") or {}).items():  # type: ignore[attr-defined]
                lines.append(f"| `{path}[…].{name}` | {kind_of(field)} | | {field['doc']} |")
    return "\n".join(lines) + "\n\n"


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
            assert spec["parse"] in extract.OUTPUT_TYPES
            for one in (spec.get("extract") or {}).values():
                extract.plan(one if isinstance(one, str) else one["value"], spec["parse"])
    assert {"ruff", "mypy", "eslint", "pytest"} <= seen


def test_the_page_names_the_places_that_are_looked_at() -> None:
    text = (DOCS / "evidence.md").read_text()
    for pattern in (*tests._DEFAULT, *coverage._DEFAULT):
        assert f"`{pattern}`" in text
    assert str(evidence.REPORT_LIMIT >> 20) + " MiB" in text
