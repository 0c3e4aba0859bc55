"""`ahp verify`: the project's own tests and linters, as the runner and policies see them."""

import os
import sys
from typing import TYPE_CHECKING

import click

from ahp.cli.options import Number
from ahp.protocol.text import one_line

if TYPE_CHECKING:
    from ahp.runner.verification.project_verifier import ProjectVerifier
    from ahp.runner.verification.result import VerificationResult


@click.command()
@click.argument("what", nargs=-1)
@click.option("--timeout", type=Number(min=0, min_open=True), default=600.0, show_default=True, metavar="S")
@click.option("--fresh", is_flag=True, help="Run also what passed over this very content.")
@click.option("--list", "listed", is_flag=True, help="Say which checks the project has, and run none.")
@click.option("--format", "form", type=click.Choice(["text", "json", "sarif"]), default="text", show_default=True)
def command(what: tuple[str, ...], timeout: float, fresh: bool, listed: bool, form: str) -> int:
    """Run the project's tests and linters. WHAT is tests, lint, or checks by name, such as pytest; default: all.

    Exit code 0: all of it passed; 1: something is wrong; 2: something could not be checked, or there is nothing.
    """
    from ahp.hosts.asking import around
    from ahp.runner.config import load_config
    from ahp.runner.verification.project_verifier import KINDS, ProjectVerifier, names
    from ahp.system import environ, interrupt, jsontext

    here = around(os.getcwd())
    config = load_config(here.root)
    known = [*KINDS, *(one.name for one in config.checks), *names()]
    unknown = [name for name in what if name not in known]
    if unknown:
        raise click.UsageError(f"no check is called {one_line(unknown[0])}; there are {', '.join(known)}")
    with interrupt.raised():
        verifier = ProjectVerifier(
            here.root,
            environ.current(),
            variables=config.verification_variables,
            named=config.checks,
            use_cache=not fresh,
            repository=here.repo,
            tell=_tell,
        )
        if listed:
            _list(verifier, form)
            return 0
        result = verifier.verify(timeout, what)
    if form == "text":
        _print(result)
    else:
        from ahp.runner.verification.result import as_sarif

        click.echo(jsontext.encode(as_sarif(result) if form == "sarif" else result.as_json()))
    return 0 if result.ok else 1 if result.red else 2


def _tell(what: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"[{done + 1}/{total}] {what}", err=True)


def _list(verifier: "ProjectVerifier", form: str) -> None:
    from ahp.runner.verification.result import title
    from ahp.system import jsontext
    from ahp.system.terminal import table

    if form != "text":
        shown = [
            {"name": one.name, "kind": one.kind, "directory": one.directory, "command": one.command}
            for one in verifier.checks
        ]
        click.echo(jsontext.encode(shown))
        return
    table([(title(one.name, one.directory), one.command or one.missing) for one in verifier.checks])


def _print(result: "VerificationResult") -> None:
    from ahp.runner.verification.result import title
    from ahp.system.terminal import table

    styles = dict.fromkeys(["test_failure", "lint_failure", "collection_error"], "red") | {"passed": "green"}
    rows = [(title(one.name, one.directory), one.type, one.summary) for one in result.checks]
    table(rows or [("", result.type, result.summary)], styles=styles)
    for detail in result.details:
        click.echo(f"\n{detail.place}: {detail.error}")
        if detail.context:
            click.echo("\n".join(f"    {line}" for line in detail.context.split("\n")))
    for caution in result.cautions:
        click.echo(f"\n{caution}")
    if result.suggestion:
        click.echo(f"\n{result.suggestion}")
