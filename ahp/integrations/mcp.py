"""`ahp mcp`: commands of ahp as tools of an MCP server, for clients without hooks and for whoever asks before acting.

What runs is the command itself, in a process that is marked as an agent's: it can answer no signal as a person.
"""

import os
from typing import TYPE_CHECKING, Any, Literal

import click

from ahp.integrations import calls
from ahp.protocol.text import excerpt, one_line
from ahp.system import environ, installed, jsontext
from ahp.system.errors import AhpError
from ahp.system.version import __version__

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

_TIME, _MOST = 300.0, 50_000  # seconds a command may take, characters that a model reads of it
_ABOUT = (
    "ahp judges what is done in this repository by its policy, .ahp/hooks.yaml. Call `brief` first. Before you act, "
    "ask `check`: with the trigger pre-commit or pre-push; or with pre-tool-use and facts like "
    '{"tool": {"name": "shell", "input": {"command": "make"}}}. What is refused there is refused when you do it.'
)
Facts = dict[str, Any] | None
# Of an agent: to let a refusal pass is a person's answer.
Action = Literal[
    "retry_after_fix",
    "abort",
    "accept_modification",
    "reject_modification",
    "acknowledge",
    "apply_suggestion",
    "dismiss",
    "suggestion_applied",
    "suggestion_deferred",
]


def check(trigger: str, issue: str = "", facts: Facts = None) -> str:
    """What the policy says to a trigger now, as JSON: pre-commit, pre-push, pre-tool-use … Nothing is logged.

    `facts` are namespaces that take the place of the repository's own; `issue` is an issue's id.
    """
    return _asked("check", trigger, issue, facts)


def explain(what: str, issue: str = "", facts: Facts = None) -> str:
    """Why a trigger, or one rule by its name, says what it says; or what the log has of a signal, by its id."""
    return _asked("explain", what, issue, facts)


def facts(trigger: str, issue: str = "", facts: Facts = None) -> str:
    """Every fact that the policy's conditions can read at a trigger, as it is now."""
    return _asked("facts", trigger, issue, facts)


def brief() -> str:
    """What the policy refuses here, in at most 200 tokens."""
    return _ran("brief")


def respond(signal: str, action: Action, reason: str = "", feedback: str = "") -> str:
    """Answer a signal of ahp by the beginning of its id. To let a refusal pass is a person's answer, not yours."""
    return _ran("respond", "--format=json", f"--reason={reason}", f"--feedback={feedback}", "--", signal, action)


def policy_test() -> str:
    """Run the tests of this project's policy."""
    return _ran("policy", "test", "--format=json")


def saved(name: str = "") -> str:
    """The snapshots of the work tree from before calls that could lose work; with a name, what differs from it now."""
    return _ran("saved", "show", "--", name) if name else _ran("saved", "list")


def server() -> "MCPServer[Any]":
    """The server with its tools. Raises AhpError where the SDK is not installed."""
    try:
        from mcp.server.mcpserver import MCPServer
        from mcp.types import ToolAnnotations
    except ImportError:
        raise AhpError(f"`ahp mcp` needs the MCP SDK, 2.0 or newer: {installed.command('mcp')}") from None
    made: MCPServer[Any] = MCPServer("ahp", instructions=_ABOUT, version=__version__, log_level="ERROR")
    for tool in (check, explain, facts, brief, policy_test, saved):
        made.tool(annotations=ToolAnnotations(read_only_hint=True), structured_output=False)(tool)
    made.tool(annotations=ToolAnnotations(destructive_hint=False), structured_output=False)(respond)
    return made


@click.command()
def command() -> None:
    """Serve check, explain, facts, brief, respond, policy_test and saved to an agent by MCP, on stdin and stdout.

    For clients without hooks, and for agents that ask before they act. It judges nothing by itself, and has no tool
    that trusts, waives or lets pass.
    """
    server().run("stdio")


def _asked(command: str, what: str, issue: str, facts: Facts) -> str:
    given = [f"--facts={jsontext.encode(facts)}"] if facts else []
    return _ran(command, "--format=json", f"--issue={issue}", *given, "--", what)


def _ran(*arguments: str) -> str:
    from mcp.server.mcpserver.exceptions import ToolError

    env = environ.current()
    try:
        done = calls.ahp(os.getcwd(), _TIME, {**env, "AHP_AGENT": env.get("AHP_AGENT") or "mcp"}, *arguments)
    except (AhpError, OSError, ValueError) as error:  # what the system takes for no argument
        raise ToolError(one_line(str(error), 300)) from None
    if done.code > 1:
        raise ToolError(excerpt(done.err.decode("utf-8", "replace"), _MOST))
    return excerpt(done.out.decode("utf-8", "replace"), _MOST)
