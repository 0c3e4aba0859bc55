"""`ahp condition`: check a condition, and evaluate it where facts are given (design §5, §10)."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import click

from ahp.conditions.evaluate import MISSING, Bound, Undecided, build
from ahp.conditions.parse import parse, place_of
from ahp.conditions.schema import Schema
from ahp.conditions.typecheck import Checked, ConditionError, check
from ahp.hosts.given_facts import read
from ahp.system import jsontext
from ahp.system.errors import AhpError

MAX_LINE = 16 * 1024 * 1024  # bytes of one request: what any host may send (design §11)


@click.command()
@click.argument("expression", required=False)
@click.option("--schema", "schema_file", type=click.Path(dir_okay=False), help="Fact paths and types, JSON or YAML.")
@click.option("--facts", "facts_file", metavar="FILE|{…}", help="Facts: a YAML or JSON file, or a mapping.")
@click.option("--batch", is_flag=True, help="Read JSON lines {id, expression, facts} from standard input.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_context
def command(
    context: click.Context,
    expression: str | None,
    schema_file: str | None,
    facts_file: str | None,
    batch: bool,
    form: str,
) -> None:
    """Check EXPRESSION against the fact schema; with --facts also give its value.

    Exit code 0: accepted (and decided, where facts were given); 2: refused, or undecidable for these facts.
    """
    if batch == (expression is not None):
        raise click.UsageError("give either an expression or --batch")
    schema = read_schema(schema_file)
    if batch:
        if facts_file:
            raise click.UsageError("with --batch every line brings its own facts")
        for answer in answers(_lines(), schema):
            click.echo(json.dumps(answer))
        return
    facts = read(facts_file) if facts_file else None
    result = judge(str(expression), schema, facts)
    click.echo(json.dumps(result) if form == "json" else _text(result), err="error" in result and form == "text")
    if "error" in result:
        context.exit(2)


def read_schema(path: str | None) -> Schema:
    """The schema of a file, or of every fact ahp knows. Raises AhpError."""
    if path is not None:
        return Schema(read(path))
    from ahp.facts.schemas import schema_all

    return Schema(schema_all())


def answers(lines: Iterable[bytes], schema: Schema) -> Iterator[dict[str, Any]]:
    """One answer a line of a batch, in order; a line that is no request is answered, too, never skipped."""
    for line in lines:
        if not line.strip():
            continue
        request, fault = _request(line)
        if request is None:
            yield {"id": None, "error": fault, "stage": "load", "kind": "input", "column": 1}
            continue
        result = judge(request["expression"], schema, request.get("facts") or {})
        told = ("value", "error", "stage", "kind", "column")
        yield {"id": request.get("id"), **{name: result[name] for name in told if name in result}}


def judge(text: str, schema: Schema, facts: Mapping[str, Any] | None) -> dict[str, Any]:
    """What there is to say about a condition: its value (where facts are given), or the error with stage, kind and
    column.
    """
    try:
        checked = check(text, schema)
    except ConditionError as error:
        first = error.problems[0]
        problems = [str(problem) for problem in error.problems]
        return {
            "error": first.message,
            "stage": "load",
            "kind": first.kind,
            "column": first.column,
            "problems": problems,
        }
    notes = [problem for problem in (checked.constant_problem, *checked.advice) if problem is not None]
    said: dict[str, Any] = {
        "reads": sorted(checked.reads),
        "cost": checked.cost,
        "notes": [str(note) for note in notes],
    }
    if facts is None:
        return said
    try:
        return {"value": evaluate(checked, facts), **said}
    except Undecided as undecided:
        return {
            "error": str(undecided),
            "told": undecided.told(),
            "stage": "eval",
            "kind": undecided.kind,
            "column": _column(text, undecided.path),
        }
    except Bound as bound:
        return {"error": str(bound), "stage": "eval", "kind": "bound", "column": 1}


def _column(text: str, path: str | None) -> int:
    """Where a condition first reads the fact at `path`, counted from 1 in its line; 1 where no fact is to blame."""
    places = [place_of(node) for node in ast.walk(parse(text)) if path and _path(node) == path]
    return min(((place.line, place.column) for place in places), default=(1, 0))[1] + 1


def _path(node: ast.AST) -> str:
    """The path that a piece of a condition spells, as `Undecided.path` does; "" for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_path(node.value)}.{node.attr}"
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        key = node.slice.value
        return f"{_path(node.value)}.{key}" if isinstance(key, str) else _path(node.value)
    return ""


def evaluate(checked: Checked, facts: Mapping[str, Any]) -> bool:
    """The condition's value for namespaces of facts. Raises Undecided and Bound."""
    paths = sorted(checked.reads)
    condition = build(checked.plan, {path: index for index, path in enumerate(paths)})
    return condition([lookup(facts, path) for path in paths])


def lookup(facts: Mapping[str, Any], path: str) -> Any:
    """A fact by its path in nested namespaces, or under the whole path as one key; MISSING where it is not given."""
    if path in facts:
        return facts[path]
    found: Any = facts
    for name in path.split("."):
        if not isinstance(found, Mapping) or name not in found:
            return MISSING
        found = found[name]
    return found


def _text(result: dict[str, Any]) -> str:
    if result.get("stage") == "load":
        return "\n".join(result["problems"])
    if "error" in result:
        return f"undecidable ({result['kind']}): {result.get('told', result['error'])}"
    head = json.dumps(result["value"]) if "value" in result else "accepted"
    reads = [f"reads {', '.join(result['reads'])}"] if result["reads"] else []
    return "\n".join([head, *reads, *(f"note: {note}" for note in result["notes"])])


def _lines() -> Iterator[bytes]:
    stream = sys.stdin.buffer
    while line := stream.readline(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            raise AhpError(f"a line of the batch is longer than {MAX_LINE} bytes")
        yield line


def _request(line: bytes) -> tuple[dict[str, Any] | None, str]:
    try:
        found = jsontext.decode(line.decode())
    except ValueError as error:
        return None, f"not JSON: {str(error).removeprefix('not JSON ')}"[:500]
    if not isinstance(found, dict) or not isinstance(found.get("expression"), str):
        return None, "a request is an object with an expression"
    if not isinstance(found.get("facts") or {}, dict):
        return None, "facts are an object of namespaces"
    return found, ""
