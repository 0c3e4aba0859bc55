"""ahp.runner.tools.tool: what tools return, as models read it"""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import enum
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

from ahp.runner import tool
from ahp.runner.scripted import AnyArgs
from ahp.runner.tools.tool import FunctionTool, result_text
from tests.runner.runs import Scene, call


class Point(BaseModel):
    x: int
    secret: SecretStr = SecretStr("hidden")


@dataclasses.dataclass
class Pair:
    left: int
    right: list[int]


class Colour(enum.Enum):
    RED = "red"


class Text(str):
    def __str__(self) -> str:
        raise RuntimeError("odd")


ROUND: list[Any] = []
ROUND.append(ROUND)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is\x00", "as it is\x00"),
        (Text("text"), "text"),
        ({"a": 1, "b": "é", "c": None, "d": True}, '{"a":1,"b":"é","c":null,"d":true}'),
        ([Point(x=1)], '[{"x":1,"secret":"**********"}]'),
        (Pair(1, [2]), '{"left":1,"right":[2]}'),
        (Colour.RED, "red"),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (Path("a/b"), "a/b"),
        (4, "4"),
        (float("nan"), "NaN"),
        (None, "(done; it returned nothing)"),
        ("é".encode(), "é"),
        (b"\xff", "\ufffd"),
        (ValueError("bad"), "bad"),
        (ROUND, "[[...]]"),
    ],
)
def test_the_text_of_a_value(value: object, text: str) -> None:
    assert result_text(value, 60, "it") == text


@pytest.mark.parametrize("value", [iter([1]), map(str, [1]), (one for one in [1])])
def test_what_gives_its_items_one_by_one_is_no_result(value: object) -> None:
    with pytest.raises(TypeError, match="it has to return a list"):
        result_text(value, 60, "it")


def test_an_async_tool_is_awaited_and_all_of_a_run_have_one_event_loop() -> None:
    loops: list[object] = []

    @tool
    async def look(n: int) -> dict[str, int]:
        await asyncio.sleep(0)
        loops.append(asyncio.get_running_loop())
        return {"n": n}

    scene = Scene([call(n=1), call(n=2), "done"], tools=[look])
    assert [event["text"] for event in scene.of("tool_result")] == ['{"n":1}', '{"n":2}']
    assert loops[0] is loops[1]


def test_what_a_tool_returns_becomes_text_within_its_time() -> None:
    class Odd:
        def __str__(self) -> str:
            raise RuntimeError("no text")

    def run(args: AnyArgs, context: object) -> object:
        return Odd()

    scene = Scene([call(), "done"], tools=[FunctionTool("look", "looks", AnyArgs, run)])
    assert scene.of("tool_result")[0]["text"] == "E_TOOL: RuntimeError: no text"


def test_an_error_without_a_text_is_told_by_its_type() -> None:
    class Odd(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    def run(args: AnyArgs, context: object) -> object:
        raise Odd

    scene = Scene([call(), "done"], tools=[FunctionTool("look", "looks", AnyArgs, run)])
    assert scene.of("tool_result")[0]["text"] == "E_TOOL: Odd"
