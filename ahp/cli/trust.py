"""`ahp trust`: accept the commands of the policy."""

import shlex

import click

from ahp.protocol.event import Event
from ahp.protocol.text import one_line
from ahp.system.errors import AhpError


@click.command()
@click.option("--yes", is_flag=True, help="Accept without being asked.")
@click.option("--list", "only_list", is_flag=True, help="Show the commands and whether they are accepted.")
@click.option("--forget", is_flag=True, help="Take every acceptance back.")
def command(yes: bool, only_list: bool, forget: bool) -> int:
    """Accept the commands that the policy of this folder runs: `facts.run` and `action.run`.

    Acceptance is bound to the command, its directory, parsing, timeout and the files it names, in this clone. Only a
    person can give it.
    """
    from ahp.hosts.events import dry_event
    from ahp.policy import layers, trust
    from ahp.policy.sources import FileSource
    from ahp.system import terminal

    event = dry_event("session-start")
    if forget:
        trust.forget(event.journal)
        return 0
    commands = trust.commands(layers.load(FileSource(event.root, event.user_policy)))
    read = trust.in_folder(event.root)
    digests = {name: trust.digest(spec, read) for name, spec in commands.items()}
    known = trust.accepted(event.journal)
    waiting = {name: digest for name, digest in digests.items() if digest not in known}
    for name, spec in commands.items():
        state = "waits" if name in waiting else "accepted"
        argv = shlex.join(spec.get("run") or spec["command"])
        click.echo(f"{state}: {one_line(name)}: {one_line(argv, 1000)}  (in {one_line(spec['directory'])})")
    if only_list or not waiting:
        return 0
    trust.refuse_others(event.actor)
    if not yes:
        answer = terminal.ask(f"ahp: may these {len(waiting)} commands run from now on?", 600.0)
        if answer is None:
            raise AhpError("nobody can be asked here; a person runs: ahp trust --yes")
        if not answer:
            return 1
    trust.accept(event.journal, waiting, event.actor)
    _record(event, waiting)
    return 0


def _record(event: Event, commands: dict[str, str]) -> None:
    """Leaves in the log who accepted what."""
    from ahp.journal.append import Journal
    from ahp.protocol import records
    from ahp.system import clock

    record = records.other("trust", clock.iso(clock.now()), commands=commands, by=str(event.actor))
    Journal(event.journal, event.genesis).append([record], durable=True)
