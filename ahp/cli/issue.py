"""`ahp issue`: tickets and their life for projects without another tool."""

import os
import sys

import click

from ahp.cli.groups import Group
from ahp.cli.options import TEXT_OR_JSON
from ahp.hosts import issue as host
from ahp.hosts.verdict_text import text, write
from ahp.protocol.event import identify
from ahp.protocol.text import one_line
from ahp.system import environ, jsontext, terminal
from ahp.tickets.lint import lint as faults_of
from ahp.tickets.tracker import Tracker

_ISSUE = click.argument("issue", metavar="ID")
_MARKS = {"todo": " ", "doing": "/", "done": "x", "cancelled": "~"}


@click.group("issue", cls=Group)
def command() -> None:
    """Tickets in Issues/: make them, read them, take them through the gate."""


@command.command()
@click.argument("kind", metavar="TYPE", type=click.Choice(["epic", "feature", "chore", "fix", "arch"]))
@click.argument("title")
@click.option("-d", "--needs", metavar="ID", multiple=True, help="An issue that has to be done first.")
@click.option(
    "-c",
    "--criticality",
    type=click.Choice(["low", "medium", "high", "critical"]),
    help="Default: fix and epic high, feature medium, chore low.",
)
def new(kind: str, title: str, needs: tuple[str, ...], criticality: str | None) -> int:
    """Write the next ticket of TYPE (epic, feature, chore, fix, arch), in draft; prints its path."""
    click.echo(one_line(_tracker().create(kind, title, needs, criticality or ""), 1000))
    return 0


@command.command("list")
@click.option("--stage", metavar="WORD", help="Only those in this stage.")
@click.option("--all", "closed", is_flag=True, help="Also what is closed.")
@TEXT_OR_JSON
def list_(stage: str | None, closed: bool, form: str) -> int:
    """The tickets that are not closed: id, stage, boxes done, title. Exit code 2 when one cannot be read."""
    found, faults = _tracker().summaries(closed)
    rows = [row for row in found if stage is None or stage.lower() in (row["stage"], row["status"])]
    if form == "json":
        click.echo(jsontext.encode(rows))
    else:
        terminal.table([_row(row) for row in rows], numbers=[2])
    for fault in faults:
        click.echo(f"ahp: {fault}", err=True)
    return 2 if faults else 0


@command.command()
@_ISSUE
@TEXT_OR_JSON
def show(issue: str, form: str) -> int:
    """One ticket: what it says, what it waits for, and its boxes."""
    told = _tracker().detail(issue)
    if form == "json":
        click.echo(jsontext.encode(told))
        return 0
    boxes = told.pop("boxes")
    for name, value in told.items():
        text = ", ".join(one_line(item) for item in value) if isinstance(value, list) else value
        if text is not None and text != "":
            click.echo(f"{name.replace('_', ' ')}: {one_line(text, 1000)}")
    for box in boxes if isinstance(boxes, list) else []:
        click.echo(f"  [{_MARKS[box['state']]}] {box['id']}: {one_line(box['text'])}")
    return 0


@command.command()
@TEXT_OR_JSON
def lint(form: str) -> int:
    """Everything that is wrong with the tickets; exit code 1 when anything is."""
    faults = faults_of(_tracker().tickets)
    if form == "json":
        click.echo(jsontext.encode([{"path": one.path, "line": one.line, "message": one.what} for one in faults]))
    else:
        for fault in faults:
            click.echo(str(fault))
    return 1 if faults else 0


@command.command()
@_ISSUE
@TEXT_OR_JSON
def start(issue: str, form: str) -> int:
    """Begin work: pass the gate, make or switch to the branch, set `stage: doing`."""
    return _move("start", issue, form)


@command.command()
@_ISSUE
@TEXT_OR_JSON
def submit(issue: str, form: str) -> int:
    """Hand in for review: pass the gate, record the changed files, set `stage: review`."""
    return _move("submit", issue, form)


@command.command()
@_ISSUE
@click.option(
    "-s",
    "--solution",
    type=click.Choice(["implemented", "cancelled", "wontfix", "duplicate"]),
    help="What it is closed as; default: as the ticket says, else implemented.",
)
@TEXT_OR_JSON
def close(issue: str, solution: str | None, form: str) -> int:
    """End it: pass the gate, set `stage: done` and `status: closed`, move the file."""
    return _move("close", issue, form, solution or "")


def _row(row: dict[str, object]) -> tuple[str, ...]:
    state = row["stage"] if row["status"] == "open" else row["status"]
    return str(row["id"]), one_line(state, 12), f"{row['done']}/{row['total']}", one_line(row["title"])


def _tracker() -> Tracker:
    return Tracker(os.getcwd())


def _move(step: str, issue: str, form: str, solution: str = "") -> int:
    moved = host.move(step, issue, solution)
    if form == "json":
        click.echo(jsontext.encode(moved.as_dict()))
    else:
        for verdict in (moved.before, moved.after):
            if verdict and (said := text(verdict, identify(environ.current()), environ.current())):
                write(said)
        if not moved.denied and sys.stdout.isatty():
            click.echo(moved.summary())
    for note in moved.notes:
        click.echo(f"ahp: {note}", err=True)
    return 1 if moved.denied else 0
