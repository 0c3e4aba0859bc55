"""ahp.runner.tools.tool: @tool"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, Field

from ahp.runner import FunctionTool, ToolContext, Touched, tool
from tests.runner.runs import Scene, call


@tool
def look(path: str, lines: Annotated[int, Field(ge=1)] = 10) -> str:
    """Reads a file."""
    return f"{lines} lines of {path}"


@tool(name="save", description="Writes.", kind="write", timeout_s=5, touched=lambda args: Touched(writes=[args.path]))
def write_it(path: str, context: ToolContext) -> int:
    return len(f"{context.root}/{path}")


def test_a_typed_function_is_a_tool() -> None:
    assert isinstance(look, FunctionTool)
    assert (look.name, look.description, look.kind, look.writes) == ("look", "Reads a file.", "other", True)
    scene = Scene([call(path="a"), call(path="b", lines=0), "done"], tools=[look])
    assert [event["text"] for event in scene.of("tool_result")] == [
        "10 lines of a",
        "E_INVALID_ARGS: look: lines: Input should be greater than or equal to 1",
    ]
    assert "more: no such name; there are" in Scene([call(path="a", more=1), "done"], tools=[look]).said[1]


@tool
def save(
    path: str,
    text: Annotated[str, Field(description="what to write")],
    mode: Annotated[int, Field(description="its permissions")] = 0o644,
    schema: int = Field(1, description="of the file"),
    context: ToolContext | None = None,
) -> str:
    """Saves a text
    in a file.

    Args:
        path: where to
    """
    return f"{path} {schema} {context is not None}"


def test_annotations_describe_arguments_and_the_documentation_as_a_whole_the_tool() -> None:
    properties = save.args.model_json_schema()["properties"]
    described = {"path": None, "text": "what to write", "mode": "its permissions", "schema": "of the file"}
    assert {name: one.get("description") for name, one in properties.items()} == described
    assert save.description == "Saves a text\nin a file.\n\nArgs:\n    path: where to"
    assert save.run(save.args(path="a", text="b"), ToolContext("/r", 1.0)) == "a 1 True"


def test_what_can_be_read_only_once_is_read_by_the_gate_and_by_the_tool() -> None:
    @tool
    def add(numbers: Iterable[int]) -> int:
        return sum(numbers)

    scene = Scene([call("add", numbers=[1, 2]), call("add", numbers=["x"]), "done"], tools=[add])
    first, second = (event["text"] for event in scene.of("tool_result"))
    assert first == "3"
    assert second.startswith("E_INVALID_ARGS: add: 0: Input should be a valid integer")


def breaks(value: int) -> int:
    raise KeyError(value)


def test_a_validator_that_breaks_refuses_its_call() -> None:
    @tool
    def look(n: Annotated[int, AfterValidator(breaks)]) -> str:
        return str(n)

    scene = Scene([call(n=1), "done"], tools=[look])
    assert scene.of("tool_result")[0]["text"] == "E_INVALID_ARGS: look: KeyError: 1"


def test_its_settings_are_those_of_a_tool_and_the_context_is_no_argument() -> None:
    assert (write_it.name, write_it.description, write_it.kind) == ("save", "Writes.", "write")
    assert list(write_it.args.model_fields) == ["path"]
    assert write_it.run(write_it.args(path="a"), ToolContext("/r", 1.0)) == "4"
    touched = write_it.touches(write_it.args(path="a"))
    assert touched is not None
    assert touched.writes == ("a",)


def test_what_is_no_typed_function_is_refused() -> None:
    def untyped(path) -> str:  # type: ignore[no-untyped-def]
        return str(path)

    def many(*paths: str) -> str:
        return str(paths)

    def hidden(_path: str) -> str:
        return _path

    def items(path: str) -> Iterator[str]:
        yield path

    async def later(path: str) -> AsyncIterator[str]:
        yield path

    for function in (untyped, many, hidden, items, later):
        with pytest.raises(TypeError, match=function.__name__):
            tool(function)


def test_the_public_names_come_when_they_are_asked_for() -> None:
    import subprocess
    import sys

    import ahp.runner

    found: dict[str, Any] = {name: getattr(ahp.runner, name) for name in ahp.runner.__all__}
    assert all(found.values())
    assert found["Agent"].__name__ == "Agent"
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        ahp.runner.Nothing
    code = "import sys, ahp.runner; print({'pydantic', 'yaml', 're2'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"set()\n"
