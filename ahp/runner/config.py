"""`.ahp/agent.yaml`: the settings of the runner."""

import logging
import os
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ahp.facts.policy import AGENT_FILE
from ahp.hosts.asking import around
from ahp.runner.validation import faults, tree
from ahp.runner.verification.command_checks import NamedCheck
from ahp.system import files
from ahp.system.yamltree import YamlError

_LIMIT = 64 << 10

_log = logging.getLogger(__name__)

Boxed = Literal["auto", "always", "never"]
ReplyFormat = Literal["auto", "native", "schema", "text"]


class McpServer(BaseModel):
    """An MCP server: a command that speaks on its standard streams, or a URL (streamable HTTP)."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    command: tuple[str, ...] = ()
    """The program and its arguments. It runs in the project's folder."""

    env: tuple[str, ...] = ()
    """The variables that it gets beside `PATH`, `HOME` and the like, by name: values such as keys are no settings."""

    url: str = Field(default="", pattern=r"^(https?://.+)?$")
    """Where a server listens."""

    @model_validator(mode="after")
    def _is_one_or_the_other(self) -> "McpServer":
        if bool(self.command) is bool(self.url):
            raise ValueError("an MCP server has a command or a url")
        return self


class AgentConfig(BaseModel):
    """Every setting of a run. Limits count what is allowed: 0 allows none; where null is possible it is no limit."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False)

    enable_planning: bool = True
    """Whether a task becomes a plan first; without one, a loop of tool calls runs until the answer."""

    max_tokens: int = Field(default=1024, ge=1)
    """Tokens a model may write in one reply. 0 is refused: a reply of no tokens says nothing."""

    context_tokens: int | None = Field(default=None, ge=0)
    """Tokens of the messages of one request, by estimate; oldest pairs go first. 0 keeps only system prompt, task and
    the last exchange; null is the model's window less `max_tokens`, where its server lists that."""

    retrieval_tokens: int = Field(default=1_000, ge=0)
    """Tokens, by estimate, that each conversation opens with beside its task: what the policy asks of agents, and where
    in the project to look first. At most a quarter of `context_tokens`. 0 gives nothing."""

    max_plan_steps: int = Field(default=8, ge=0)
    """Steps of a plan; longer plans are cut. 0 allows no plan at all."""

    jobs: int = Field(default=1, ge=1)
    """Steps of a plan that may run at a time, each in a work tree of its own, where their dependencies are done. 0 is
    refused: nothing would run."""

    max_step_tool_calls: int = Field(default=12, ge=0)
    """Tool calls within one plan step; the next one fails the step. 0 allows none."""

    max_replans: int = Field(default=2, ge=0)
    """Times a run may recover: replan after a failed step, or fix what verification or a gate found. 0 allows none."""

    max_iterations: int = Field(default=20, ge=0)
    """Model requests within one plan step, one turn without plan, or one asking for the final answer; the next one ends
    the run with MAX_ITER. 0 allows none."""

    repeat_warning: int = Field(default=3, ge=0)
    """Times the same call may have given the same result when the model is told to change its approach, this time
    included. 0 and 1 tell it at the first."""

    max_same_calls: int = Field(default=50, ge=0)
    """Times the same call may give the same result in a run; beyond, it is answered with E_STUTTERING and not made
    again. 0 answers the first one so."""

    max_same_blocks: int = Field(default=3, ge=1)
    """Times the gate may block for the same reason; that time ends the run in BLOCKED. 0 is refused: a run cannot end
    by a block that has not been."""

    tool_timeout_s: float = Field(default=120.0, ge=0)
    """Seconds a tool may take that names no limit of its own; beyond, E_TIMEOUT. 0 lets no such tool run."""

    box: Boxed = "auto"
    """Whether commands of the agent run in a box: where one can start, there or not at all, or never. A rule of the
    policy goes before."""

    tool_output_chars: int = Field(default=20_000, ge=0)
    """Characters of a tool's output that the model reads, from its beginning and its end. 0 shows only its length."""

    model_timeout_s: float = Field(default=300.0, ge=0)
    """Seconds the model may take for one reply. 0 allows no request."""

    max_model_retries: int = Field(default=4, ge=0)
    """Times one request is made again when the model fails in a way that may pass: a server that loads, a lost
    connection. The first wait is 1 s, each next one twice as long, or what the server asks for. 0 makes none again."""

    verification_timeout_s: float = Field(default=600.0, ge=0)
    """Seconds that verification may take. 0 lets nothing run, which is told as a timeout."""

    checks: tuple[NamedCheck, ...] = ()
    """How the project is checked, by command: `{name, run, kind, report, directory}`. They take the place of the checks
    of their kind that ahp would find."""

    mcp_servers: dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,32}$")], McpServer] = {}
    """MCP servers by name, whose tools and resources the agent gets: `{command, env}` or `{url}`."""

    verification_variables: tuple[str, ...] = ()
    """Environment variables that the tests look at: a check that passed runs again when one of them changes."""

    budget_tokens: int | None = Field(default=None, ge=0)
    """Tokens of a run, read and written; no request is made once they are used. 0 allows none; null is no limit."""

    budget_usd: float | None = Field(default=None, ge=0)
    """US dollars of a run, as the model reports them. 0 allows no request; null is no limit."""

    budget_seconds: float | None = Field(default=None, ge=0)
    """Wall time of a run in seconds. 0 allows no request; null is no limit."""

    verification_policy: str | None = Field(default=None, pattern=r"^[a-z][a-z0-9_]{0,63}$")
    """auto, none, or one kind of check such as run_pytest, whatever a plan says; a plan can add one. Null is auto."""

    inject_schemas: bool = False
    """Whether the system prompt carries the JSON schema of every tool; else one line each."""

    reply_format: ReplyFormat = "auto"
    """How an OpenAI-compatible server holds replies to their form: native tool calls, a JSON schema, or not at all.
    auto takes the first of them that the server accepts."""


# These weaken nothing; the next say how a run is checked and ends. All others are limits.
_FREE = ("enable_planning", "inject_schemas", "reply_format", "verification_variables")
_AS_COMMITTED = ("box", "mcp_servers", "checks", "verification_policy", "verification_timeout_s")


def load_config(root: str) -> AgentConfig:
    """The settings of the project at `root`, the defaults without a file. Raises AhpError with every place.

    Of the file as HEAD has it and as it lies there, the stricter counts: else a model's write would loosen its limits.
    """
    working = _read(files.read(os.path.join(root, AGENT_FILE), _LIMIT), AGENT_FILE)
    committed = _committed(root)
    if committed is None:
        return working
    strict = _read(committed, f"HEAD:{AGENT_FILE}")
    chosen = {name: _stricter(name, getattr(strict, name), value) for name, value in working}
    waits = [name for name, value in working if value != chosen[name]]
    if waits:
        _log.warning("%s: what is not committed loosens %s, and does not count", AGENT_FILE, ", ".join(waits))
    return AgentConfig.model_construct(**chosen)


def _stricter(name: str, committed: Any, working: Any) -> Any:
    """Of two limits the lower one, null being none; anything else as it is committed."""
    if name in _FREE:
        return working
    if name in _AS_COMMITTED or working is None:
        return committed
    return working if committed is None else min(committed, working)


def _committed(root: str) -> bytes | None:
    """The file as HEAD has it; None where there is none. Raises AhpError where it cannot be read."""
    repo = around(root).repo
    if repo is None:
        return None
    path = os.path.relpath(os.path.join(os.path.realpath(root), AGENT_FILE), os.path.realpath(repo.root or root))
    blob = repo.line("rev-parse", "--verify", "--quiet", f"HEAD:{path}", ok=(0, 1))
    return repo.run("cat-file", "blob", blob) if blob else None


def _read(data: bytes | None, name: str) -> AgentConfig:
    node = None if data is None else tree(data, name, _LIMIT)
    try:
        return AgentConfig.model_validate({} if node is None else node.plain())
    except ValidationError as error:
        raise YamlError(faults(error, node, name, AgentConfig.model_fields)) from None
