"""`ahp condition` as a program: values, errors with their place, and batches (design §10)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ahp.cli import condition
from ahp.system.errors import AhpError
from tests.conditions.cases import DATA, FACTS, load

SCHEMA = ["--schema", str(DATA / "fact_schema.json")]


def ahp(*arguments: str, **options: Any) -> Result:
    return CliRunner().invoke(condition.command, [*arguments], **options)


@pytest.fixture
def facts(tmp_path: Path) -> str:
    path = tmp_path / "facts.yaml"
    path.write_text("files: {changed_count: 25}\ncoverage: {previous: null}\ngit.branch: main\n")
    return str(path)


def test_a_condition_is_checked(facts: str) -> None:
    done = ahp("files.changed_count > 20 and tests.failed > 1", *SCHEMA)
    assert (
        done.exit_code == 0 and "accepted" in done.output and "reads files.changed_count, tests.failed" in done.output
    )
    assert "may be absent" in done.output
    assert "never true" in ahp("files.changed_count < 0", *SCHEMA).output


def test_a_condition_is_evaluated(facts: str) -> None:
    assert ahp("files.changed_count > 20", *SCHEMA, "--facts", facts).output.startswith("true\n")
    assert ahp("git.branch == 'x'", *SCHEMA, "--facts", facts).output.startswith("false\n")
    done = ahp("tests.failed > 1", *SCHEMA, "--facts", facts)
    assert done.exit_code == 2 and "undecidable (missing_fact): tests.failed is missing" in done.output
    done = ahp("coverage.previous > 1", *SCHEMA, "--facts", facts, "--format", "json")
    assert json.loads(done.output) == {
        "error": "null_operand: coverage.previous",
        "told": "coverage.previous is null",
        "stage": "eval",
        "kind": "null_operand",
        "column": 1,
    }
    done = ahp("files.changedcount > 1 and git.brnch == 'a'", *SCHEMA)
    assert done.exit_code == 2 and "1:1: " in done.output and "1:28: " in done.output
    done = ahp("files.changed_count > 1", *SCHEMA, "--facts", facts, "--format", "json")
    assert json.loads(done.output)["value"] is True


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("git.branch == 'tests.failed' or tests.failed > 1", 33),
        ("(git.branch == 'x' or\n  tests.failed > 1)", 3),
        ("git.branch == 'x' or tool.input['né'] == tool.input.nosuch", 22),
        ("git.branch == 'x' or git.tags[7] == 'x'", 22),
    ],
)
def test_the_column_is_where_the_fact_is_read(text: str, column: int, facts: str) -> None:
    done = ahp(text, *SCHEMA, "--facts", facts, "--format", "json")
    assert json.loads(done.output)["column"] == column


def test_a_batch_takes_numbers_that_are_json() -> None:
    lines = [f'{{"id": 1, "expression": "true", "facts": {{"files": {{"n": {n}}}}}}}' for n in ("NaN", "1e400", "1")]
    done = ahp("--batch", *SCHEMA, input="\n".join(lines))
    answers = [json.loads(line) for line in done.output.splitlines()]
    assert [one.get("kind") for one in answers] == ["input", "input", None]


def test_without_a_schema_the_facts_of_ahp_are_known() -> None:
    assert ahp("files.changed_count > 1").exit_code == 0


def test_usage(tmp_path: Path, facts: str) -> None:
    assert ahp().exit_code == 2 and ahp("true", "--batch").exit_code == 2
    assert ahp("--batch", *SCHEMA, "--facts", facts).exit_code == 2
    bad = tmp_path / "bad"
    for text in ("[1]", "{a: b: c}", "\x00"):
        bad.write_text(text)
        assert isinstance(ahp("true", "--schema", str(bad)).exception, AhpError)
    assert isinstance(ahp("true", "--schema", str(tmp_path / "none")).exception, AhpError)


def test_batch_answers_every_line_in_order() -> None:
    cases = load("benign.jsonl") + load("hostile.jsonl")
    lines = [
        json.dumps({"id": case["id"], "expression": case["expression"], "facts": FACTS[case.get("fact_set", "A")]})
        for case in cases
    ]
    done = ahp("--batch", *SCHEMA, input="\n".join(lines) + "\n")
    answers = [json.loads(line) for line in done.output.splitlines()]
    assert done.exit_code == 0 and [one["id"] for one in answers] == [case["id"] for case in cases]
    for case, answer in zip(cases, answers, strict=True):
        wanted = case["expect"]
        if wanted == "value":
            assert isinstance(answer["value"], bool)
        elif wanted == "reject_at_load":
            assert answer["stage"] == "load" and answer["column"] >= 1 and len(answer["error"]) <= 500
        elif wanted == "error_at_eval":
            assert answer["stage"] == "eval" and answer["kind"] == "missing_fact"
        elif "value" in wanted:
            assert answer == {"id": case["id"], "value": wanted["value"]}
        else:
            assert (answer["stage"], answer["kind"]) == ("eval", wanted["error"])


def test_batch_answers_what_is_no_request() -> None:
    lines = [
        "nonsense",
        "[1]",
        '{"id": 1}',
        '{"id": 2, "expression": "true", "facts": 3}',
        "",
        '{"id": 3, "expression": "true"}',
        "[" * 5000,
    ]
    lines.append(
        json.dumps({"id": 4, "expression": "files.total_bytes * 1.5 > 1", "facts": {"files": {"total_bytes": 10**400}}})
    )
    answers = [json.loads(line) for line in ahp("--batch", *SCHEMA, input="\n".join(lines)).output.splitlines()]
    assert [one.get("kind") for one in answers] == ["input"] * 4 + [None, "input", "bound"]


def test_a_line_or_file_past_its_bound_is_refused(monkeypatch: pytest.MonkeyPatch, facts: str) -> None:
    monkeypatch.setattr(condition, "MAX_LINE", 10)
    assert isinstance(ahp("--batch", *SCHEMA, input="x" * 20).exception, AhpError)
    monkeypatch.setattr("ahp.hosts.given_facts._LIMIT", 10)
    assert isinstance(ahp("true", "--facts", facts, *SCHEMA).exception, AhpError)
