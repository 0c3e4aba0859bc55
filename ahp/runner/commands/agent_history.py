"""`ahp agent list`, `show` and `replay`: what the embedded agent has done."""

import os
import time
from typing import TYPE_CHECKING

import click

from ahp.cli.options import RUN, TEXT_OR_JSON, Number
from ahp.protocol.text import one_line
from ahp.system import jsontext

if TYPE_CHECKING:
    from ahp.runner.run.events import Event

_LONGEST_WAIT = 2.0  # s


@click.command("list")
@TEXT_OR_JSON
def list_(form: str) -> int:
    """Every run, oldest first: id, how it ended, task."""
    from ahp.runner.run import runs

    root = runs.project_root(os.getcwd())
    found = [runs.summary(root, run_id) for run_id in runs.ids(root)]
    if form == "json":
        click.echo(jsontext.encode([vars(one) for one in found]))
        return 0
    for one in found:
        click.echo(f"{one.id}  {one.stop_reason or 'unfinished':<20}  {one_line(one.task, 80)}")
    return 0


@click.command()
@RUN
@TEXT_OR_JSON
def show(run_id: str, form: str) -> int:
    """What happened in RUN, the beginning of an id; without one, in the last run."""
    from ahp.runner.run import live

    for event in _events(run_id):
        said = jsontext.encode(event) if form == "json" else live.line(event)
        if said is not None:
            click.echo(said)
        if form == "text" and event["event"] == "run_end" and event["answer"]:
            click.echo(live.text(event["answer"]))
    return 0


@click.command()
@RUN
@click.option("--speed", type=Number(min=0), default=1.0, metavar="N", help="Times as fast; 0: at once.")
def replay(run_id: str, speed: float) -> int:
    """Tell RUN again as it happened, at most two seconds between two events."""
    from ahp.runner.run import live
    from ahp.system import clock

    former: float | None = None
    for event in _events(run_id):
        at = clock.parse_iso(event["at"])
        if speed and former is not None:
            time.sleep(min(max(at - former, 0.0) / speed, _LONGEST_WAIT))
        former = at
        said = live.line(event)
        if said is not None:
            click.echo(said)
    return 0


def _events(run_id: str) -> "list[Event]":
    from ahp.runner.run import runs
    from ahp.runner.run.events import read_events

    root = runs.project_root(os.getcwd())
    return read_events(runs.events_path(root, runs.find(root, run_id)))
