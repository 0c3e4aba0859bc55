"""Options that several commands have."""

import click

TEXT_OR_JSON = click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
ISSUE = click.option("--issue", metavar="ID", default="", help="The issue that it is about.")
FACTS = click.option(
    "--facts",
    metavar="FILE|{…}",
    help="Facts in place of those that are there: a YAML or JSON file, or the mapping itself.",
)
POLICY = click.option(
    "--policy", "policy_name", metavar="REF|FILE", help="The policy of a commit or in a file, not the work tree's."
)
