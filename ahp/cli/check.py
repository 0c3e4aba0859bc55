"""`ahp check`: what the policy would say now."""

import click


@click.command()
@click.argument("trigger")
@click.option("--issue", metavar="ID", help="The issue that it is about.")
@click.option("--facts", "facts_file", metavar="FILE", help="A YAML or JSON mapping of namespaces that replaces facts.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def command(trigger: str, issue: str | None, facts_file: str | None, form: str) -> int:
    """Judge TRIGGER without logging or counting anything."""
    from ahp.cli.judge import judge
    from ahp.hosts.events import dry_event

    return judge(dry_event(trigger, issue, facts_file), form)
