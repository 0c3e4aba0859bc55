"""`ahp agent rerun`: a recorded run again, against today's policy and prompts."""

import os
from typing import TYPE_CHECKING

import click

from ahp.cli.options import RUN, TEXT_OR_JSON
from ahp.protocol.text import one_line
from ahp.system import jsontext

if TYPE_CHECKING:
    from ahp.runner.config import AgentConfig
    from ahp.runner.rerun.recording import Recording
    from ahp.runner.rerun.rerun import Rerun
    from ahp.runner.tools.tool import Tool


@click.command("rerun")
@RUN
@click.option(
    "--tools",
    type=click.Choice(["recorded", "real"]),
    default="recorded",
    help="recorded: results come from the recording, nothing is changed or logged; real: tools work, as in a run.",
)
@TEXT_OR_JSON
def command(run_id: str, tools: str, form: str) -> int:
    """Carry out RUN again with its recorded answers, under the policy, prompts and settings of now.

    Tells where it differs. Exit code 0: nowhere; 1: somewhere; 2: the gate could not judge.
    """
    from ahp.runner.config import load_config
    from ahp.runner.rerun.recording import Recording
    from ahp.runner.rerun.rerun import rerun_recorded
    from ahp.runner.run import runs
    from ahp.runner.run.events import read_events

    root = runs.project_root(os.getcwd())
    run_id = runs.find(root, run_id)
    recording = Recording(read_events(runs.events_path(root, run_id)))
    config = load_config(root).model_copy(update={"enable_planning": recording.run.planning, "jobs": 1})
    toolbox = _tools(root, run_id)
    if tools == "recorded":
        new_id, done = "", rerun_recorded(recording, root, config, toolbox)
    else:
        new_id, done = _real(recording, root, config, toolbox)
    if form == "json":
        _print_json(run_id, new_id, done)
    else:
        _print(run_id, new_id, done)
    return 2 if done.turn.stop_reason == "GATE_ERROR" else int(bool(done.differences))


def _tools(root: str, run_id: str) -> "list[Tool]":
    from ahp.runner.run import live, runs
    from ahp.runner.scripted import load_script
    from ahp.runner.tools.catalog import all_tools

    script = runs.kept_script(root, run_id)
    return load_script(script).toolbox() if script else all_tools(lambda text: click.echo(live.text(text), err=True))


def _real(recording: "Recording", root: str, config: "AgentConfig", toolbox: "list[Tool]") -> "tuple[str, Rerun]":
    from ahp.runner.rerun.rerun import rerun_real
    from ahp.runner.run import runs
    from ahp.runner.run.events import EventLog

    new_id = runs.new_id()
    log = EventLog(runs.events_path(root, new_id))
    try:
        return new_id, rerun_real(recording, root, config, toolbox, log, new_id)
    finally:
        log.close()


def _print(run_id: str, new_id: str, done: "Rerun") -> None:
    for one in done.differences:
        for line in one.recorded:
            click.echo(f"- {line}")
        for line in one.now:
            click.echo(f"+ {line}")
        for line in one.text:
            click.echo(f"    {line}")
    number = len(done.differences)
    where = "nowhere" if not number else "in one place" if number == 1 else f"in {number} places"
    unused = f", {done.unused} recorded answers were not asked for" if done.unused else ""
    click.echo(f"{run_id} differs {where}: ended with {one_line(done.turn.stop_reason)}{unused}", err=True)
    if new_id:
        click.echo(f"  what happened: ahp agent show {new_id}", err=True)


def _print_json(run_id: str, new_id: str, done: "Rerun") -> None:
    from ahp.runner.rerun.comparison import as_json

    shown = {
        "recorded": run_id,
        "run": new_id or None,
        "stop_reason": done.turn.stop_reason,
        "differences": [as_json(one) for one in done.differences],
        "unused_answers": done.unused,
    }
    click.echo(jsontext.encode(shown))
