"""`ahp box`: a command in a box. `ahp saved`: what lay in the work tree before calls, and how to bring it back."""

import os
import time
from typing import TYPE_CHECKING

import click

from ahp.cli.groups import Group
from ahp.protocol.text import one_line

if TYPE_CHECKING:
    from ahp.box.saved import Store

_DONE = {"A": "brought back", "M": "changed back", "T": "changed back", "D": "taken away"}
_WOULD = {"A": "is gone", "M": "differs", "T": "differs", "D": "is new"}


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("command_line", metavar="-- COMMAND…", nargs=-1, required=True, type=click.UNPROCESSED)
def box(command_line: tuple[str, ...]) -> int:
    """Run COMMAND in a box: the work tree is there to be written, all else is read-only or not there, keys and
    sockets are hidden, and there is no network. What the policy's `box` says holds.

    The exit code is the command's own; 125 where nothing was run.
    """
    from ahp.box import session
    from ahp.hosts import asking
    from ahp.policy.judges import judges_of
    from ahp.protocol.event import identify

    where = asking.around(os.getcwd())
    event = asking.event("pre-tool-use", "cli", identify(where.env), where, mode="dry")
    keys = judges_of(event)[0].program.box
    return session.call(list(command_line), where.root, where.repo, keys)


@click.group("saved", cls=Group)
def saved() -> None:
    """What lay in the work tree before an agent's calls, and bring it back."""


@saved.command("list")
def list_saved() -> None:
    """List the snapshots of this work tree, the newest last: its name, when, and before what call."""
    for one in _store().all():
        at = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.at))
        left = f" (not kept: {one.left})" if one.left else ""
        click.echo(f"{one.name}  {at}  {one_line(one.call, 80)}{left}")


@saved.command()
@click.argument("name")
def show(name: str) -> None:
    """Show what differs now from a snapshot: files, then branches, tags and stash entries that are gone since."""
    store = _store()
    lost = store.lost(name)  # one that is not there saves nothing
    now = store.save("", f"ahp saved show {name}")
    for what, path in store.changes(name, now):
        click.echo(f"{_WOULD[what]}: {one_line(path.partition('/')[2], 500)}")
    for ref, oid in lost.items():
        click.echo(f"is gone: {one_line(ref, 500)} ({oid[:12]})")


@saved.command()
@click.argument("name")
@click.argument("paths", nargs=-1)
def restore(name: str, paths: tuple[str, ...]) -> None:
    """Make the work tree, or PATHS of it, what it was in a snapshot. Without PATHS, branches, tags and stash entries
    that are gone come back, too. What there is now is saved first; HEAD and the index stay.
    """
    store = _store()
    root = os.path.realpath(store.repo.root)
    places = tuple(os.path.relpath(os.path.join(os.path.realpath(os.getcwd()), one), root) for one in paths)
    if any(one == ".." or one.startswith("../") for one in places):
        raise click.BadParameter("a path outside of the work tree is in no snapshot")
    before, found = store.restore(name, () if "." in places else places)
    for what, path in found:
        click.echo(f"{_DONE[what]}: {one_line(path.partition('/')[2], 500)}")
    for title in [] if paths else store.restore_refs(name):
        click.echo(f"brought back: {one_line(title, 500)}")
    click.echo(f"what was there before is saved: ahp saved restore {before}")


def _store() -> "Store":
    from ahp.box.saved import Store
    from ahp.system import environ, git

    repo = git.discover(os.getcwd(), environ.current())
    if not repo.root:
        raise click.UsageError("this repository is bare: it has no work tree")
    return Store(repo)
