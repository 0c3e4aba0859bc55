"""`ahp import`: the checks of another hook manager as rules."""

import os
import re

import click

from ahp.hosts import importing
from ahp.hosts.asking import around
from ahp.policy import layers, shape
from ahp.policy.cache import PROJECT
from ahp.policy.sources import TextSource
from ahp.protocol.text import one_line
from ahp.system import files
from ahp.system.errors import AhpError
from ahp.system.terminal import prose

_EXTENDS = re.compile(rb"^extends: \[([^\]\n]*)\]", re.MULTILINE)
_LIMIT = 1 << 20  # bytes


@click.command()
@click.argument("manager", type=click.Choice(list(importing.MANAGERS)))
@click.option("--print", "only_print", is_flag=True, help="Print the rules and write nothing.")
@click.option("--force", is_flag=True, help="Write over what an earlier import wrote.")
def command(manager: str, only_print: bool, force: bool) -> None:
    """Take over the checks of another hook manager as rules of .ahp/hooks.yaml.

    Each check becomes one rule in .ahp/MANAGER.yaml, which the policy extends. What cannot be taken over is listed with
    the reason. Nothing of the other manager is changed: both work beside each other until it is taken away.
    """
    where = around(os.getcwd())
    root = where.repo.root if where.repo is not None else ""
    if not root:
        raise AhpError("this is no git work tree; go to one, where the other manager is set up")
    found = importing.read(manager, root)
    text = found.text(manager)
    layers.load(TextSource(text, f"{manager}.yaml"))
    if only_print:
        click.echo(text, nl=False)
    elif found.rules:
        _write(root, manager, text, force)
    elif os.path.lexists(f"{root}/.ahp/{manager}.yaml"):
        click.echo(f".ahp/{manager}.yaml: stays as it is, since nothing can be taken over now")
    _tell(manager, found, only_print)


def _write(root: str, manager: str, text: str, force: bool) -> None:
    """Writes the rules, and has the policy extend them. Raises AhpError."""
    path, name = f"{root}/.ahp/{manager}.yaml", f"{manager}.yaml"
    policy = files.read(root + PROJECT, _LIMIT)
    if policy is None:
        raise AhpError(f"there is no {PROJECT[1:]} here to take the rules; write one first: ahp init")
    if os.path.lexists(path) and not force:
        raise AhpError(f".ahp/{name} is there already; `ahp import {manager} --force` writes it anew")
    files.replace(path, text.encode(), 0o644)
    click.echo(f".ahp/{name}: written")
    known = _EXTENDS.search(policy)
    if name in map(str, shape.read(policy, PROJECT[1:], "project").model.extends):
        return
    if known is None:
        click.echo(f"next: add `{name}` to `extends` in {PROJECT[1:]}")
        return
    names = ", ".join(filter(None, [known[1].decode("utf-8", "surrogateescape").strip(), name]))
    after = policy[: known.start()] + f"extends: [{names}]".encode("utf-8", "surrogateescape") + policy[known.end() :]
    files.replace(root + PROJECT, after, 0o644)
    click.echo(f"{PROJECT[1:]}: extends it")


def _tell(manager: str, found: importing.Imported, only_print: bool) -> None:
    """What was taken over, what was not and why, and what is to be done."""
    say = [f"taken over: {len(found.rules)}" + (f": {', '.join(found.rules)}" if found.rules else "")]
    say += [f"left to {manager}: {one_line(name, 200)}: {why}" for name, why in found.left.items()]
    say += [f"has to be installed: {one_line(name)} (as in {where})" for name, where in found.programs.items()]
    if found.rules and not only_print:
        say += ["next: ahp policy lint, then ahp trust, then commit .ahp/"]
    for line in say:
        click.echo(prose(line), err=only_print)
