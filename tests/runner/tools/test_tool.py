"""ahp.runner.tools.tool"""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ConfigDict, field_validator

from ahp.runner.tools.tool import FunctionTool, InvalidCall, Toolbox, ToolContext
from ahp.system.interrupt import Ended


class Args(BaseModel):
    model_config = ConfigDict(extra="forbid")

    path: str
    limit: int = 5


TOOL = FunctionTool("read", "reads", Args, lambda args, context: f"{args.path} in {context.root}")


def test_a_tool_is_called_with_valid_arguments() -> None:
    box = Toolbox([TOOL])
    args = box.validate(box.find("read"), {"path": "a"})
    assert args == Args(path="a")
    assert TOOL.run(args, ToolContext("/r", 1.0)) == "a in /r"


def test_unknown_tools_and_wrong_arguments_are_said() -> None:
    box = Toolbox([TOOL])
    with pytest.raises(InvalidCall, match="there is no tool 'wri te'; there are: read") as unknown:
        box.find("wri\nte")
    assert unknown.value.code == "E_UNKNOWN_TOOL"
    with pytest.raises(InvalidCall, match=r"read: path: .*; limit: .*; x: ") as wrong:
        box.validate(TOOL, {"limit": "many", "x": 1})
    assert wrong.value.code == "E_INVALID_ARGS"
    with pytest.raises(InvalidCall, match="there are: none"):
        Toolbox().find("read")


class Leaves(BaseModel):
    why: str

    @field_validator("why")
    @classmethod
    def leave(cls, why: str) -> str:
        raise {"exit": SystemExit(0), "ended": Ended(15)}[why]


def test_a_validator_that_leaves_is_a_wrong_argument_and_a_signal_is_not() -> None:
    box = Toolbox([FunctionTool("leave", "leaves", Leaves, lambda args, context: "")])
    with pytest.raises(InvalidCall, match="leave: SystemExit: 0"):
        box.validate(box.find("leave"), {"why": "exit"})
    with pytest.raises(Ended):
        box.validate(box.find("leave"), {"why": "ended"})


def test_two_tools_of_one_name_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="two tools"):
        Toolbox([TOOL, TOOL])


def test_a_kind_is_one_that_policies_know() -> None:
    with pytest.raises(ValueError, match="unknown kind 'magic'"):
        Toolbox([FunctionTool("t", "", Args, lambda args, context: "", kind="magic")])
