"""ahp.runner.validation: what a language model reads of a schema"""

from __future__ import annotations

import json
from typing import Any

from pydantic import Field

from ahp.runner.run.session import definition, wants
from ahp.runner.scripted import AnyArgs
from ahp.runner.tools.catalog import standard_tools
from ahp.runner.tools.tool import FunctionTool
from ahp.runner.validation import Lean


class Inner(Lean):
    """Not told."""

    name: str = Field(min_length=1)


class Args(Lean):
    """Not told, either."""

    path: str = Field(max_length=9, description="where")
    lines: int | None = Field(None, ge=1, description="how many")
    start: int = 1
    deep: bool = False
    inner: list[Inner] = Field([])


def parameters(args: type[Any]) -> Any:
    return definition(FunctionTool("look", "looks", args, lambda args, context: "")).parameters


def test_a_schema_says_what_a_model_reads_and_no_more() -> None:
    told = {"properties": {"name": {"type": "string"}}, "required": ["name"], "type": "object"}
    assert parameters(Args) == {
        "type": "object",
        "required": ["path"],
        "properties": {
            "path": {"type": "string", "description": "where"},
            "lines": {"type": "integer", "description": "how many"},
            "start": {"type": "integer", "default": 1},
            "deep": {"type": "boolean"},
            "inner": {"type": "array", "items": told},
        },
    }


def test_null_stays_where_it_says_something() -> None:
    [final] = wants([])["answer"].tools
    assert {"type": "null"} in final.parameters["properties"]["changed"]["anyOf"]


def test_a_tool_of_a_program_keeps_its_limits() -> None:
    class Own(AnyArgs):
        title: str = Field(max_length=80)

    assert parameters(Own)["properties"]["title"] == {"type": "string", "maxLength": 80}


def test_references_of_another_language_s_schema_are_written_out() -> None:
    class Served(AnyArgs):
        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
            there = {"type": "object", "properties": {"definitions": {"type": "string"}}}
            at = {"$ref": "#/definitions/At", "description": "where"}
            return {"type": "object", "properties": {"at": at}, "definitions": {"At": there}}

    assert parameters(Served)["properties"]["at"] == {
        "type": "object",
        "description": "where",
        "properties": {"definitions": {"type": "string"}},
    }


def test_the_own_tools_are_short() -> None:
    """Each request has them."""
    assert len(json.dumps([vars(definition(one)) for one in standard_tools(print)], separators=(",", ":"))) < 3_000
