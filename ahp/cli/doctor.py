"""`ahp doctor`: is the gate really reached, and can it do its work?"""

import click

from ahp.cli.options import TEXT_OR_JSON
from ahp.hosts import table
from ahp.hosts.asking import repository_here, user_policy
from ahp.hosts.ci import setup
from ahp.hosts.git import doctor
from ahp.hosts.table import Check
from ahp.protocol.text import one_line
from ahp.system import jsontext, terminal
from ahp.system.git import Repository

_STYLES = {"ok": "green", "note": "yellow", "wrong": "bold red"}
_WEIGHT = list(_STYLES)  # what is wrong comes last, next to the prompt


@click.command()
@click.option("--fix", "mend", is_flag=True, help="Fix what is ahp's own: hooks, bundle, state, the log's clock.")
@click.option("--ci", is_flag=True, help="Say instead what judges again what comes to the default branch.")
@click.option("--all", "-a", "whole", is_flag=True, help="List the checks that are well, too.")
@TEXT_OR_JSON
def command(mend: bool, ci: bool, whole: bool, form: str) -> int:
    """Check the policy, each hook that git would run, the interpreter, the log and where it lies.

    Each hook is tried for real, in a scratch repository: nothing here is judged, changed or logged. Exit code 0: all
    is well, 1: something is wrong.
    """
    if ci and mend:
        raise click.UsageError("--ci only looks; a person fixes what it names")
    repo = repository_here()
    checks, mended = (setup.examine(repo), []) if ci else _of_clone(repo, mend)
    good = all(check.status != "wrong" for check in checks)
    if form == "json":
        click.echo(
            jsontext.encode({"ok": good, "mended": bool(mended), "checks": [check._asdict() for check in checks]})
        )
        return 0 if good else 1
    if mended:
        click.echo(f"ahp: {'; '.join(mended)}")
    told = sorted(_told_once(checks), key=lambda check: _WEIGHT.index(check.status))
    well = [] if whole or ci else [check for check in told if check.status == "ok"]
    many = f"{len(well)} check{'s' * (len(well) != 1)}"
    rows = [("ok".ljust(5), many, "each with what it found: ahp doctor --all")] if well else []
    rows += [(check.status.ljust(5), check.name, _what(check)) for check in told[len(well) :]]
    terminal.table(rows, styles=_STYLES)
    return 0 if good else 1


def _of_clone(repo: Repository, mend: bool) -> tuple[list[Check], list[str]]:
    """The checks of the hooks here, after fixing what can be, and what was fixed."""

    def examined() -> list[Check]:
        return [check for name in table.able("examine") for check in table.host(name).examine(repo)]

    checks = examined()
    mended = doctor.fix(repo, user_policy(), checks) if mend else []
    return (examined() if mended else checks), mended


def _told_once(checks: list[Check]) -> list[Check]:
    """The checks, where several hooks are not there with one row for all of them."""
    gone = [check for check in checks if check.detail.endswith(f"/{check.name} is not there")]
    if len(gone) < 2:
        return checks
    folder, names = gone[0].detail.removesuffix(f"/{gone[0].name} is not there"), [check.name for check in gone]
    whole = gone[0]._replace(name="hooks", detail=f"{folder} has no {', '.join(names[:-1])} and {names[-1]}")
    return [whole if check is gone[0] else check for check in checks if check not in gone[1:]]


def _what(check: Check) -> str:
    return one_line(check.detail, 500) + (f"; fix: {one_line(check.mend, 500)}" if check.mend else "")
