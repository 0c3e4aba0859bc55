"""Which tools there are, what they are called, and what a model is told of them."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from typing import Any

import pytest

from ahp.facts.tool import NAMES
from ahp.runner.run.session import definition
from ahp.runner.tools.catalog import all_tools, standard_tools
from ahp.runner.tools.tool import TRAINED, FunctionTool, Toolbox, tool
from ahp.system import wings
from ahp.system.errors import AhpError
from tests.conftest import Repo
from tests.runner.runs import Scene, call

OWN = {tool.name: tool for tool in standard_tools(print)}


def test_ahps_own_tools() -> None:
    assert {name: (tool.kind, tool.writes) for name, tool in OWN.items()} == {
        "read_file": ("read", False),
        "list_files": ("list", False),
        "search": ("search", False),
        "write_file": ("write", True),
        "append_file": ("write", True),
        "edit": ("edit", True),
        "apply_patch": ("patch", True),
        "run_command": ("shell", True),
        "display": ("other", False),
    }
    assert {tool.kind for tool in OWN.values()} <= set(NAMES)


def test_a_model_is_not_told_of_what_it_cannot_say() -> None:
    for one in OWN.values():
        properties = definition(one).parameters["properties"]
        assert "leads_to" not in properties, one.name
        assert not any(name.startswith("_") for name in properties)


def test_another_name_of_a_tool_is_that_tool() -> None:
    box = Toolbox(OWN.values())
    names = [alias for known in TRAINED.values() for alias in known.split()]
    assert TRAINED.keys() == OWN.keys()
    assert len(set(names)) == len(names) and not set(names) & set(OWN)
    assert (box.own_name("cat"), box.own_name("edit"), box.own_name("unknown")) == ("read_file", "edit", "unknown")
    assert {"cat", "read_file"} <= box.names


def test_names_and_shapes_that_models_were_trained_on_are_understood(repo: Repo) -> None:
    repo.commit("begin", **{"a.txt": "one\ntwo\nthree\n"})
    calls = [
        call("Write", file_path="b.txt", content="x\n"),
        call("Edit", file_path="b.txt", old_string="x", new_string="y"),
        call("replace_in_file", path="b.txt", old_str="y", new_str="z"),
        call("str_replace_editor", command="view", path="a.txt", view_range=[2, 3]),
        call("str_replace_based_edit_tool", command="str_replace", path="a.txt", old_str="one", new_str="1"),
        call("str_replace_editor", command="create", path="c.txt", file_text="c\n"),
        call("execute_bash", command="cat b.txt"),
        call("shell", command=["bash", "-lc", "echo $((1 + 1))"]),
        call("apply_patch", input="*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+2\n*** End Patch"),
        call("apply_patch", input="*** Begin Patch\n*** Add File: d/d.txt\n+d\n*** End Patch\n"),
    ]
    tools = standard_tools(print)
    scene = Scene([*calls, "done"], tools=tools, root=str(repo.root), verification_policy="none")
    results = scene.of("tool_result")
    assert [event["code"] for event in results] == ["ok"] * len(calls), [event["text"] for event in results]
    assert results[3]["text"].endswith("two\nthree\n")
    assert [event["text"] for event in results[6:8]] == ["[exit code 0]\nz\n", "[exit code 0]\n2\n"]
    held = {name: (repo.root / name).read_text() for name in ("a.txt", "c.txt", "d/d.txt")}
    assert held == {"a.txt": "1\n2\nthree\n", "c.txt": "c\n", "d/d.txt": "d\n"}


def test_a_tool_goes_before_another_name() -> None:
    mine = FunctionTool("cat", "", OWN["read_file"].args, lambda args, context: "")
    assert Toolbox([*OWN.values(), mine]).own_name("cat") == "cat"


def test_a_call_by_another_name_is_judged_by_its_own() -> None:
    scene = Scene([call("cat", path="f"), "done"], tools=[_tool("read_file")])
    assert [event["tool"] for event in scene.of("tool_call")] == ["read_file"]
    assert [asked[1]["name"] for asked in scene.gate.asked if asked[1]] == ["read_file"] * 2  # type: ignore[attr-defined]


def test_a_tool_that_cannot_tell_what_it_touches_does_not_run() -> None:
    def touched(args: Any) -> Any:
        raise KeyError("oops")

    scene = Scene([call("look"), "done"], tools=[_tool("look", touched=touched)])
    (result,) = scene.of("tool_result")
    assert result["code"] == "E_TOOL" and "what look will touch cannot be told" in result["text"]
    assert not {"pre-tool-use", "post-tool-use"} & set(scene.gate.triggers())  # type: ignore[attr-defined]


def _tool(name: str, **settings: Any) -> FunctionTool:
    def look(path: str = "") -> str:
        """Looks."""
        return "seen"

    return tool(name=name, kind="read", **settings)(look)


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> Iterator[types.ModuleType]:
    """A module `ahp_plugin` whose `added` is an entry point."""
    made = types.ModuleType("ahp_plugin")
    monkeypatch.setitem(sys.modules, "ahp_plugin", made)
    point = {"mine": ("ahp_plugin:added", "plugin")}
    monkeypatch.setattr(wings, "of_others", lambda table: point if table == "tools" else {})
    yield made


@pytest.mark.parametrize("form", ["tool", "list", "function"])
def test_packages_add_tools(plugin: types.ModuleType, form: str) -> None:
    mine = _tool("mine")
    plugin.added = {"tool": mine, "list": [mine], "function": lambda: [mine]}[form]  # type: ignore[attr-defined]
    assert [tool.name for tool in all_tools(print)] == [*OWN, "mine"]


@pytest.mark.parametrize(
    ("added", "said"),
    [
        (5, "gives no tool"),
        (["x"], "gives no tool"),
        (lambda: 1 / 0, "ZeroDivisionError"),
        (_tool("edit"), "two tools are called edit"),
    ],
)
def test_a_package_that_adds_no_tool_is_named(plugin: types.ModuleType, added: object, said: str) -> None:
    plugin.added = added  # type: ignore[attr-defined]
    with pytest.raises(AhpError, match=f"ahp.tools:mine.*{said}"):
        all_tools(print)
