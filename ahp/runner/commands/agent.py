"""`ahp agent run` and `ahp agent resume`: the embedded agent."""

import os
import sys
import time
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING

import click

from ahp.cli.groups import Group
from ahp.cli.options import RUN, TEXT_OR_JSON, Number
from ahp.protocol.text import one_line
from ahp.runner.models import endpoint
from ahp.system import jsontext, wings
from ahp.system.errors import AhpError
from ahp.system.interrupt import Ended

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ahp.runner.config import AgentConfig
    from ahp.runner.gating.gate_adapter import RepositoryGate
    from ahp.runner.models.model import Model
    from ahp.runner.run.agent import Agent, AgentTurn
    from ahp.runner.run.events import EventLog
    from ahp.runner.tools.tool import Tool

_LIVE = click.option(
    "--live/--no-live", default=None, help="Show on standard error what happens; default: at a terminal."
)
_COLLECTORS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_ONE_OF_THEM = "a script stands in for a model: give one of them"
_MODEL = click.option("--model", metavar="NAME", help="The model. Default: AHP_MODEL, or the only one of the server.")
_BASE_URL = click.option(
    "--base-url", metavar="URL", help="Its server, such as http://127.0.0.1:8080/v1. Default: AHP_BASE_URL."
)
_JOBS = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Steps that may run at a time, each in a work tree of its own; default: as .ahp/agent.yaml says, else 1.",
)
_API = click.option(
    "--api",
    type=click.Choice(endpoint.names()),
    help="The API of the server. Default: AHP_MODEL_API, or as name and address tell.",
)


@click.group("agent", cls=Group)
def command() -> None:
    """The embedded agent: a task becomes a plan, and every step passes the gate."""


@command.command()
@click.argument("task", required=False)
@_MODEL
@_BASE_URL
@_API
@click.option("--script", metavar="FILE", help="Answers and tools of a scripted model, YAML or JSON.")
@click.option("--plan/--no-plan", default=None, help="Plan first, or not; default: as .ahp/agent.yaml says.")
@_JOBS
@_LIVE
@TEXT_OR_JSON
def run(
    task: str | None,
    script: str | None,
    plan: bool | None,
    jobs: int | None,
    live: bool | None,
    form: str,
    **named: str | None,
) -> int:
    """Carry out TASK (or the task in the script). Exit code 0: done, as far as what changed covers the answer; 1: not
    done; 2: the gate could not judge.

    The key of the model comes from AHP_API_KEY, the variable of its company, or the keyring. With --format json
    standard output has a line for each event as it happens, the last one tells how the run ended.
    """
    from ahp.hosts.asking import around
    from ahp.runner.config import load_config
    from ahp.runner.run import runs
    from ahp.runner.run.events import EventLog
    from ahp.runner.scripted import load_script

    if script and any(named.values()):
        raise click.UsageError(_ONE_OF_THEM)
    root = around(os.getcwd()).root
    given = load_script(script) if script else None
    task = task or (given.task if given else None)
    if not task:
        raise click.UsageError("what is the task? ahp agent run TASK")
    config = load_config(root)
    if plan is not None:
        config = config.model_copy(update={"enable_planning": plan})
    if jobs is not None:
        config = config.model_copy(update={"jobs": jobs})
    asked = given.model() if given else _connected(config, **named)
    tools = given.toolbox() if given else _project_tools()
    run_id = runs.new_id()
    with closing(EventLog(runs.events_path(root, run_id))) as events:
        if script:
            runs.keep_script(root, run_id, script)
        with _agent(root, run_id, config, events, live, form, model=asked, tools=tools) as agent:
            turn = agent.run(task)
    return _ended(turn, run_id, form)


@command.command()
@RUN
@_MODEL
@_BASE_URL
@_API
@click.option("--script", metavar="FILE", help="Another script, from its first answer; default: go on with the run's.")
@_JOBS
@_LIVE
@TEXT_OR_JSON
def resume(
    run_id: str,
    script: str | None,
    jobs: int | None,
    live: bool | None,
    form: str,
    **named: str | None,
) -> int:
    """Go on with RUN, which was killed or blocked; without one, with the last run. Exit codes as of run.

    The model is the run's, unless another one is named.

    What is finished stays finished, what is used up stays used up (raise it in .ahp/agent.yaml), and every call is
    judged anew.
    """
    from ahp.hosts.asking import around
    from ahp.runner.config import load_config
    from ahp.runner.run import runs
    from ahp.runner.run.events import EventLog
    from ahp.runner.run.run_state import RunState
    from ahp.runner.scripted import load_script

    root = around(os.getcwd()).root
    run_id = runs.find(root, run_id)
    if script and any(named.values()):
        raise click.UsageError(_ONE_OF_THEM)
    scripted = script or (None if any(named.values()) else runs.kept_script(root, run_id))
    given = load_script(scripted) if scripted else None
    config = load_config(root)
    with closing(EventLog(runs.events_path(root, run_id), resumes=True)) as events:
        past = RunState.of(events.seen)
        # Work side by side goes on so, unless one at a time is asked for.
        changes = {"enable_planning": past.planning, "jobs": jobs or max(config.jobs, past.jobs)}
        config = config.model_copy(update=changes)
        asked, tools = (
            (given.model(None if script else past.consumed_by), given.toolbox(None if script else past.ran))
            if given
            else (_connected(config, **past.asked(**named)), _project_tools())
        )
        with _agent(root, run_id, config, events, live, form, model=asked, tools=tools) as agent:
            turn = agent.resume()
    return _ended(turn, run_id, form)


def _connected(config: "AgentConfig", model: str | None, base_url: str | None, api: str | None) -> "Model":
    from ahp.runner.models.exchange import connect
    from ahp.system import environ, secret_variables

    connected = connect(model, base_url, api, env=environ.current(), reply_format=config.reply_format)
    # From here on only the client has the key: tools of the run are processes of the same user.
    secret_variables.forget(endpoint.key_variables())
    return connected


def _project_tools() -> "list[Tool]":
    from ahp.runner.run import live
    from ahp.runner.tools.catalog import all_tools

    return all_tools(lambda text: click.echo(live.text(text), err=True))


@contextmanager
def _agent(
    root: str,
    run_id: str,
    config: "AgentConfig",
    events: "EventLog",
    live: bool | None,
    form: str,
    *,
    model: "Model",
    tools: "Iterable[Tool]",
) -> "Iterator[Agent]":
    """The agent of one run, with its MCP servers; its gate knows it as one session, however often it is resumed.

    Its events are shown and told as was asked for. Says how a run goes on that Ctrl-C or a signal ends.
    """
    from ahp.runner.gating.gate_adapter import RepositoryGate
    from ahp.runner.run.agent import Agent
    from ahp.runner.run.live import Live
    from ahp.runner.tools.mcp_client import connected

    gate = RepositoryGate(root, session=run_id)
    # By default where a person looks on and has not asked for events.
    if live or (live is None and form == "text" and sys.stderr.isatty()):
        events.listeners.append(shown := Live())
        show = getattr(model, "show", None)
        if show is not None and config.jobs == 1:  # of several nobody could tell who speaks
            show(shown.hear)
    if form == "json":
        events.listeners.append(lambda event: click.echo(jsontext.encode(event)))
    try:
        with ExitStack() as stack:
            if any(map(os.environ.get, _COLLECTORS)):
                _trace(stack, gate, events)
            added = stack.enter_context(connected(config.mcp_servers, root))
            yield Agent(model, [*tools, *added], gate=gate, config=config, root=root, events=events)
    except (KeyboardInterrupt, Ended):
        click.echo(f"ahp: interrupted\n  go on:         ahp agent resume {run_id}", err=True)
        raise


def _trace(stack: ExitStack, gate: "RepositoryGate", events: "EventLog") -> None:
    """Has the run sent to a collector as spans, which no run fails for."""
    for place in wings.added("traces").values():
        try:
            events.listeners.append(stack.enter_context(wings.load(place, "traces")(gate)))
        except AhpError as error:
            click.echo(f"ahp: this run is not traced: {error}", err=True)


def _ended(turn: "AgentTurn", run_id: str, form: str) -> int:
    """Prints how a run ended; its exit code."""
    if form == "json":
        told = ("answer", "stop_reason", "notes", "changed", "verified", "unverified", "requests", "tokens", "usd")
        click.echo(jsontext.encode({"event": "turn", "run": run_id, **{name: getattr(turn, name) for name in told}}))
    else:
        _print(turn, run_id)
    return 2 if turn.stop_reason == "GATE_ERROR" else int(turn.stop_reason != "DONE")


def _print(turn: "AgentTurn", run_id: str) -> None:
    from ahp.runner.run import live, prompts

    if turn.ok:
        click.echo(live.text(turn.answer))
    else:
        click.echo(f"ahp: not done ({turn.stop_reason}): {live.text(turn.answer)}", err=True)
        click.echo(f"  what happened: ahp agent show {run_id}", err=True)
        for signal in turn.overridable:
            click.echo(f'  let it pass:   ahp respond {signal[:8]} proceed_with_risk --reason "…"', err=True)
        click.echo(f"  go on:         ahp agent resume {run_id}", err=True)
    changed = "nothing" if turn.changed == [] else prompts.files_named(turn.changed or ())
    if changed:
        click.echo(f"changed: {changed}", err=True)
    for green in turn.verified:
        click.echo(f"verified: {live.text(green)}", err=True)
    for note in dict.fromkeys([*turn.notes, *turn.unverified]):
        click.echo(live.text(note), err=True)


_LONGEST_WAIT = 2.0  # s


@command.command("list")
@TEXT_OR_JSON
def list_(form: str) -> int:
    """Every run, oldest first: id, how it ended, task."""
    from ahp.hosts.asking import around
    from ahp.runner.run import runs

    root = around(os.getcwd()).root
    found = [runs.summary(root, run_id) for run_id in runs.ids(root)]
    if form == "json":
        click.echo(jsontext.encode(found))
        return 0
    for one in found:
        click.echo(f"{one['id']}  {one['stop_reason'] or 'unfinished':<20}  {one_line(one['task'], 80)}")
    return 0


@command.command()
@RUN
@click.option(
    "--speed", type=Number(min=0), default=0.0, metavar="N", help="As it happened, N times as fast; 0: at once."
)
@TEXT_OR_JSON
def show(run_id: str, speed: float, form: str) -> int:
    """What happened in RUN, the beginning of an id; without one, in the last run."""
    from ahp.hosts.asking import around
    from ahp.runner.run import live, runs
    from ahp.runner.run.events import read_events
    from ahp.system import clock

    former: float | None = None
    root = around(os.getcwd()).root
    for event in read_events(runs.events_path(root, runs.find(root, run_id))):
        at = clock.parse_iso(event["at"])
        if speed and former is not None:
            time.sleep(min(max(at - former, 0.0) / speed, _LONGEST_WAIT))
        former = at
        said = jsontext.encode(event) if form == "json" else live.line(event)
        if said is not None:
            click.echo(said)
        if form == "text" and event["event"] == "run_end" and event["answer"]:
            click.echo(live.text(event["answer"]))
    return 0
