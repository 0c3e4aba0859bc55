"""What a run sends to a model's server, beside what other frameworks send for the same task with the same tools."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import packages_distributions
from typing import Any

import pytest
from pydantic import BaseModel, Field

from tests.conftest import Repo
from tests.runner.habits import natives
from tests.runner.models.server import Play, Server, chat, says

pytestmark = [pytest.mark.tools, pytest.mark.wings]

SOURCE = "".join(f"def f{at}(a):\n    return a * {at}\n\n\n" for at in range(40)) + "def add(a, b):\n    return a - b\n"
FILES = {"calc.py": SOURCE, "use.py": "from calc import add\n\nprint(add(1, 2))\n"}
READ = ("read_file", {"path": "calc.py"})
MENDED = {"path": "calc.py", "edits": [{"search": "a - b", "replace": "a + b"}]}
PLUS = {"path": "calc.py", "edits": [{"search": "def add", "replace": "def plus"}]}
USED = {"path": "use.py", "edits": [{"search": "add", "replace": "plus", "all": True}]}
# The task, the calls of each reply, the answer with the files that it claims.
TASKS: list[tuple[str, list[list[tuple[str, Any]]], str, list[str] | None]] = [
    ("What does add in calc.py do?", [[READ]], "It subtracts b from a.", None),
    ("Mend add in calc.py: it subtracts.", [[READ], [("edit", MENDED)]], "I mended add in calc.py.", ["calc.py"]),
    (
        "Rename add to plus in every file.",
        [
            [("search", {"pattern": "add"})],
            [READ, ("read_file", {"path": "use.py"})],
            [("edit", PLUS), ("edit", USED)],
            [("run_command", {"command": "cat use.py"})],
            [("write_file", {"path": "NOTES.md", "content": "add is plus now\n"})],
        ],
        "add is plus now in calc.py and use.py.",
        ["calc.py", "use.py", "NOTES.md"],
    ),
]


class Replacement(BaseModel):
    search: str = Field(description="exact text, found once")
    replace: str
    all: bool = Field(False, description="replace it wherever it is found")


class Tools:
    """ahp's own tools as functions, in the same words; each call gives the next of the results that ahp's gave."""

    def __init__(self, results: list[str]) -> None:
        self._left = iter(results)

    def read_file(self, path: str, start: int = 1, lines: int | None = None) -> str:
        """Reads a text file, or some of its lines.

        Args:
            path: relative to the project
            start: first line
            lines: how many
        """
        return next(self._left)

    def list_files(self, path: str = ".", glob: str | None = None) -> str:
        """Lists the files of a folder and those below it, without what git ignores.

        Args:
            path: folder or file
            glob: such as src/**/*.py
        """
        return next(self._left)

    def search(self, pattern: str, path: str = ".", glob: str | None = None, ignore_case: bool = False) -> str:
        """Searches files by a regular expression, line by line.

        Args:
            pattern: regular expression (RE2)
            path: folder or file
            glob: such as src/**/*.py
        """
        return next(self._left)

    def write_file(self, path: str, content: str) -> str:
        """Writes a file, in the place of what is there.

        Args:
            path: relative to the project
        """
        return next(self._left)

    def append_file(self, path: str, content: str) -> str:
        """Adds to the end of a file: for what is too long for one reply.

        Args:
            path: relative to the project
        """
        return next(self._left)

    def edit(self, path: str, edits: list[Replacement]) -> str:
        """Replaces exact texts in a file.

        Args:
            path: relative to the project
            edits: made in order
        """
        return next(self._left)

    def apply_patch(self, patch: str) -> str:
        """Applies a unified diff (--- a/x, +++ b/x, @@).

        Args:
            patch: unified diff of any files
        """
        return next(self._left)

    def run_command(self, command: str, workdir: str = ".") -> str:
        """Runs a shell command; input is empty, background processes are ended.

        Args:
            workdir: folder in the project
        """
        return next(self._left)

    def display(self, text: str) -> str:
        """Shows a text to the person at once; the final answer comes at the end all the same."""
        return next(self._left)

    @property
    def all(self) -> list[Callable[..., str]]:
        names = "read_file list_files search write_file append_file edit apply_patch run_command display"
        return [getattr(self, name) for name in names.split()]


def with_openai_agents(task: str, url: str, tools: Tools, system: str) -> None:
    from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
    from openai import AsyncOpenAI

    set_tracing_disabled(True)
    model = OpenAIChatCompletionsModel("tiny", AsyncOpenAI(base_url=url, api_key="k"))
    agent = Agent("a", instructions=system, model=model, tools=[function_tool(one) for one in tools.all])
    Runner.run_sync(agent, task)


def with_pydantic_ai(task: str, url: str, tools: Tools, system: str) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel("tiny", provider=OpenAIProvider(base_url=url, api_key="k"))
    Agent(model, system_prompt=system, tools=tools.all).run_sync(task)


def told(reply: dict[str, object]) -> Play:
    """A reply with what the SDK of OpenAI insists on."""
    return says({**reply, "model": "tiny", "created": 1})


def sent(server: Server) -> int:
    return sum(int(request.headers["content-length"]) for request in server.requests)


@pytest.mark.parametrize("at", range(len(TASKS)))
@pytest.mark.parametrize(
    ("package", "theirs"), [("openai-agents", with_openai_agents), ("pydantic-ai-slim", with_pydantic_ai)]
)
def test_a_run_sends_no_more_bytes_than_other_frameworks(
    repo: Repo, at: int, package: str, theirs: Callable[[str, str, Tools, str], None]
) -> None:
    from ahp.runner import Agent, AgentConfig, RepositoryGate, connect, standard_tools

    names = {name for found in packages_distributions().values() for name in found}
    if not {package, "openai", "httpx2"} <= names:
        pytest.skip(f"{package} is not installed")
    task, calls, answer, changed = TASKS[at]
    repo.commit("begin", **FILES)
    ids = iter(range(100))
    replies = [natives(*((name, args, f"call_{next(ids)}") for name, args in turn)) for turn in calls]
    final = natives(("final_answer", {"text": answer, "changed": changed}, "call_last"))
    with Server([*map(told, replies), told(final)]) as server:
        model = connect("tiny", f"{server.address}/v1", env={})
        config = AgentConfig(enable_planning=False, verification_policy="none", box="never")
        gate = RepositoryGate(str(repo.root), session="s")
        agent = Agent(model, standard_tools(print), gate=gate, config=config)
        assert agent.run(task).ok
        ours = sent(server)
    system = server.requests[0].body["messages"][0]["content"].partition("\n")[0]
    results = [one["content"] for one in server.requests[-1].body["messages"] if one["role"] == "tool"]
    with Server([*map(told, replies), told(chat(answer))]) as other:
        theirs(task, f"{other.address}/v1", Tools(results), system)
    assert len(other.requests) == len(server.requests)
    assert ours <= sent(other), json.dumps(server.requests[0].body, indent=1)
