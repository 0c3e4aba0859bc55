"""`ahp run`: judge for real."""

import click


@click.command()
@click.argument("trigger")
@click.option("--issue", metavar="ID", help="The issue that it is about.")
@click.option("--facts", "facts_file", metavar="FILE", hidden=True)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def command(trigger: str, issue: str | None, facts_file: str | None, form: str) -> int:
    """Judge TRIGGER for real: signals are logged, attempts count."""
    from ahp.cli.judge import judge
    from ahp.hosts.events import event_of

    return judge(event_of(trigger, issue=issue, facts_file=facts_file), form)
