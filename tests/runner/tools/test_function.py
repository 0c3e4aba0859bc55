"""ahp.runner.tools.function: @tool"""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field

from ahp.runner import FunctionTool, ToolContext, Touched, tool
from tests.runner.runs import Scene, call


@tool
def look(path: str, lines: Annotated[int, Field(ge=1)] = 10) -> str:
    """Reads a file.

    More that the model need not know.
    """
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

    for function in (untyped, many):
        with pytest.raises(TypeError, match=r"untyped|many"):
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
