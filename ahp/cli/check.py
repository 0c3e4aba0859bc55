"""`ahp check`: what the policy would say now."""

import os

import click

from ahp.cli.options import FACTS, ISSUE, OUTPUTS, TRIGGERS_THERE_ARE, triggers
from ahp.hosts.ci.outputs import FORMATS
from ahp.system import files
from ahp.system.errors import AhpError
from ahp.system.terminal import progress


@click.command(epilog=TRIGGERS_THERE_ARE)
@click.argument("trigger", required=False, shell_complete=triggers)
@click.option("--all", "whole", is_flag=True, help="Judge every file as it lies there, not a change.")
@ISSUE
@FACTS
@click.option("--format", "form", type=click.Choice(list(FORMATS)), default="text", show_default=True)
@OUTPUTS
def command(
    trigger: str | None,
    whole: bool,
    issue: str,
    facts: str | None,
    form: str,
    outputs: tuple[tuple[str, str], ...],
) -> int:
    """Judge TRIGGER, or with --all the tree as it is, without logging or counting anything.

    Exit code 0: it passes, warnings included; 1: it is refused; 2: it could not be judged.

    With --all the rules of commits, pushes and merges are asked as if all files were new: those that git tracks, as
    they lie there, and those that it does not track and does not ignore. Formats other than text and json, and
    --output, are for --all.
    """
    if whole == bool(trigger):
        raise click.UsageError("name a trigger, or give --all")
    if whole:
        if issue or facts:
            raise click.UsageError("--issue and --facts are about a trigger, and --all names none")
        return _all(form, outputs)
    if form not in ("text", "json") or outputs:
        raise click.UsageError("a verdict on a trigger is printed as text or json; other formats go with --all")
    from ahp.cli.run import event_here, judge

    assert trigger is not None
    return judge(event_here(trigger, issue, facts), form)


def _all(form: str, outputs: tuple[tuple[str, str], ...]) -> int:
    from ahp.hosts import asking, tree_check
    from ahp.hosts.ci.report import report

    try:
        with progress("judging files") as seen:
            told = tree_check.check(asking.around(os.getcwd()), seen)
    except AhpError as error:
        told = report("the tree could not be judged", 2, [], [], [str(error)])
    for name, path in outputs:
        files.replace(path, FORMATS[name](told).encode(), 0o644)
    click.echo(FORMATS[form](told), nl=False)
    return told.exit_code
