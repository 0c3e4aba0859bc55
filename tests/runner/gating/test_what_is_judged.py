"""What the gate judges is what runs: the arguments as the tool takes them, where their paths lead, in one root."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, SecretStr

from ahp.agents.calls.tool_call import Touched
from ahp.runner.config import AgentConfig
from ahp.runner.gating.gate_adapter import RepositoryGate
from ahp.runner.run.agent import Agent
from ahp.runner.scripted import ScriptedModel
from ahp.runner.tools.tool import FunctionTool, ToolContext, told
from tests.conftest import Repo
from tests.runner.runs import Scene
from tests.runner.scripted_gate import ScriptedGate, signal, verdict

POLICY = """\
version: 1
rules:
  keys:
    at: pre-tool-use
    block: "any(p == '.env' or glob(p, 'secrets/**') for p in tool.writes)"
    message: keys stay out
"""


@pytest.fixture
def project(repo: Repo) -> Path:
    repo.commit("policy", **{".ahp/hooks.yaml": POLICY, "secrets/README": "none here", "open/README": "all here"})
    return repo.root


class ByAlias(BaseModel):
    path: str = Field(validation_alias=AliasChoices("path", "p"))


class Stripped(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)

    path: str


class Defaulted(BaseModel):
    path: str = ".env"


class Hidden(BaseModel):
    path: str = Field(exclude=True)


class Edit(BaseModel):
    path: str
    text: str = ""


class Edits(BaseModel):
    edits: list[Edit]


class Copy(BaseModel):
    src: str = "open/README"
    dst: str


class Output(BaseModel):
    output_file: Path


class Camel(BaseModel):
    targetPath: str


class Nested(BaseModel):
    where: Edit


class Secret(BaseModel):
    path: SecretStr


class Uri(BaseModel):
    uri: str


def written(args: BaseModel) -> str:
    """Where the tool of a test writes: the path in its arguments, whatever it is called."""
    values: Any = told(args)
    while not isinstance(values, str):
        values = list(values.values())[-1] if isinstance(values, dict) and "path" not in values else values
        values = values["path"] if isinstance(values, dict) else values
        values = values[0] if isinstance(values, list) else values
    return values.removeprefix("file://")


def tool(args: type[BaseModel], kind: str = "write", **more: Any) -> FunctionTool:
    def run(given: BaseModel, context: ToolContext) -> str:
        path = Path(context.root, written(given))
        path.parent.mkdir(exist_ok=True)
        path.write_text("KEY")
        return "written"

    return FunctionTool("save", "writes", args, run, kind=kind, **more)


def attempt(root: Path, one: FunctionTool, args: dict[str, Any]) -> list[str]:
    """The codes of the one call that a model makes; `root` is where its gate judges."""
    scene = Scene(
        [json.dumps({"tool": "save", "args": args}), "done"],
        tools=[one],
        gate=RepositoryGate(str(root), session="s1"),
        verification_policy="none",
    )
    return [event["code"] for event in scene.of("tool_result")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "args"),
    [
        (ByAlias, {"p": ".env"}),
        (Stripped, {"path": " .env "}),
        (Defaulted, {}),
        (Hidden, {"path": ".env"}),
        (Edits, {"edits": [{"path": ".env"}]}),
        (Copy, {"dst": ".env"}),
        (Output, {"output_file": ".env"}),
        (Camel, {"targetPath": ".env"}),
        (Nested, {"where": {"path": ".env"}}),
        (Secret, {"path": ".env"}),
        (Uri, {"uri": "file://.env"}),
    ],
)
def test_the_arguments_are_judged_as_the_tool_takes_them(
    project: Path, model: type[BaseModel], args: dict[str, Any]
) -> None:
    assert attempt(project, tool(model), args) == ["blocked"]
    assert not (project / ".env").exists()


@pytest.mark.parametrize("kind", ["write", "edit", "patch", "mcp", "other"])
def test_a_tool_that_does_not_say_whether_it_writes_may(project: Path, kind: str) -> None:
    assert attempt(project, tool(Edit, kind), {"path": ".env"}) == ["blocked"]


def test_a_tool_that_reads_may_read(project: Path) -> None:
    assert attempt(project, tool(Edit, "read"), {"path": "secrets/x"}) == ["ok"]
    assert attempt(project, tool(Edit, "other", writes=False), {"path": "secrets/x"}) == ["ok"]


@pytest.mark.parametrize(
    "path", ["link/k", "open/../link/k", "open/deep/../../secrets/k", "/proc/self/cwd/secrets/k", "new/../secrets/k"]
)
def test_a_path_is_judged_by_where_it_leads(project: Path, path: str) -> None:
    (project / "link").symlink_to("secrets")
    (project / "open" / "deep").symlink_to(project / "secrets")
    assert attempt(project, tool(Edit), {"path": path}) == ["blocked"]


def test_a_linked_folder_that_leads_out_is_still_what_it_is_called(project: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (project / "secrets" / "README").unlink()
    (project / "secrets").rmdir()
    (project / "secrets").symlink_to(tmp_path / "outside")
    assert attempt(project, tool(Edit), {"path": "secrets/k"}) == ["blocked"]


def test_an_absolute_path_through_a_link_to_the_project_is_one_of_the_project(project: Path, tmp_path: Path) -> None:
    (tmp_path / "way").symlink_to(project)
    assert attempt(project, tool(Edit), {"path": str(tmp_path / "way" / ".env")}) == ["blocked"]
    assert attempt(tmp_path / "way", tool(Edit), {"path": str(project / ".env")}) == ["blocked"]


def test_links_in_a_circle_are_judged_too(project: Path) -> None:
    (project / "a").symlink_to("b")
    (project / "b").symlink_to("a")
    assert attempt(project, tool(Edit, "read"), {"path": "a/x"}) == ["E_TOOL"]


def test_tools_work_in_the_root_that_the_gate_judges(project: Path) -> None:
    gate = RepositoryGate(str(project / "secrets"), session="s1")
    model = ScriptedModel([json.dumps({"tool": "save", "args": {"path": "k"}}), "done"])
    config = AgentConfig(enable_planning=False, verification_policy="none")
    turn = Agent(model, [tool(Edit)], gate=gate, config=config, root=str(project / "secrets")).run("write k")
    assert turn.stop_reason == "DONE"
    assert (project / "k").exists()
    assert not (project / "secrets" / "k").exists()


def test_outside_a_repository_the_root_is_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert RepositoryGate(".", session="s1").root == str(tmp_path)


def test_a_tool_says_itself_what_it_touches(project: Path) -> None:
    class Numbered(BaseModel):
        number: int

    names = {1: "open/a", 2: ".env"}
    ran: list[int] = []
    one = FunctionTool(
        "save",
        "writes",
        Numbered,
        lambda args, context: str(ran.append(args.number)),
        touched=lambda args: Touched(writes=[names[args.number]]),
    )
    assert attempt(project, one, {"number": 2}) == ["blocked"]
    assert attempt(project, one, {"number": 1}) == ["ok"]
    assert ran == [1]


def test_a_tool_says_itself_what_command_it_runs(project: Path) -> None:
    class Target(BaseModel):
        name: str

    one = FunctionTool(
        "save",
        "makes",
        Target,
        lambda args, context: "made",
        touched=lambda args: Touched(command=f"cat a > {args.name}"),
    )
    assert attempt(project, one, {"name": ".env"}) == ["blocked"]
    assert attempt(project, one, {"name": "b"}) == ["ok"]


def test_what_a_change_of_the_gate_becomes_is_judged_again() -> None:
    """The gate's rewrite is validated like any argument, and what validation makes of it is judged once more."""
    change = {"target": "tool.input.path", "original": "a", "updated": " .env ", "reason": "shorter"}
    sent = signal("control", "names", "", signal_id="c1")
    refused = signal("block", "keys", "no", signal_id="b1")

    def answer(called: Any) -> Any:
        path = called["input"]["path"]
        if path == "a":
            return verdict("pre-tool-use", sent, modifications=[change])
        return verdict("pre-tool-use", *([refused] if path == ".env" else []))

    ran: list[str] = []
    one = FunctionTool(
        "save", "writes", Stripped, lambda args, context: str(ran.append(args.path)), touched=lambda args: Touched()
    )
    gate = ScriptedGate({"pre-tool-use": answer})
    scene = Scene([json.dumps({"tool": "save", "args": {"path": "a"}}), "done"], tools=[one], gate=gate)
    assert [event["code"] for event in scene.of("tool_result")] == ["blocked"]
    assert ran == []


def test_a_change_leaves_other_arguments_as_they_are() -> None:
    class Login(BaseModel):
        model_config = ConfigDict(extra="forbid")

        user: str = Field(alias="u")
        password: Annotated[SecretStr, Field(validation_alias="pw")]

    change = {"target": "tool.input.user", "original": "a", "updated": "b", "reason": "another"}
    ran: list[tuple[str, str]] = []

    def run(args: Login, context: ToolContext) -> str:
        ran.append((args.user, args.password.get_secret_value()))
        return "ok"

    gate = ScriptedGate(
        {
            "pre-tool-use": [
                verdict("pre-tool-use", signal("control", "c", "", signal_id="c1"), modifications=[change]),
                verdict("pre-tool-use"),
            ]
        }
    )
    Scene(
        [json.dumps({"tool": "save", "args": {"u": "a", "pw": "key"}}), "done"],
        tools=[FunctionTool("save", "logs in", Login, run)],
        gate=gate,
    )
    assert ran == [("b", "key")]


def test_plain_values_of_every_kind_are_told() -> None:
    @dataclasses.dataclass
    class Part:
        path: Path

    class Args(BaseModel):
        model_config = ConfigDict(extra="allow")

        part: Part
        data: bytes
        names: set[str]

    args = Args.model_validate({"part": {"path": "a"}, "data": b"\xff", "names": ["n"], "more": {"x": (1, None)}})
    assert told(args) == {
        "part": {"path": "a"},
        "data": "\ufffd",
        "names": ["n"],
        "more": {"x": [1, None]},
    }


def test_a_run_in_a_linked_folder_still_finds_its_root(project: Path, tmp_path: Path) -> None:
    (tmp_path / "way").symlink_to(project)
    assert RepositoryGate(str(tmp_path / "way"), session="s1").root == os.path.realpath(project)
