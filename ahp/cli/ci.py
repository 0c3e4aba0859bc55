"""`ahp ci`: the check that nobody can skip."""

from functools import partial

import click

from ahp.cli.options import OUTPUTS
from ahp.hosts.asking import repository_here
from ahp.hosts.ci import judging, platform, ruling, statements
from ahp.hosts.ci.change import change_of
from ahp.hosts.ci.outputs import FORMATS, summary
from ahp.hosts.ci.report import Report, report
from ahp.protocol.text import one_line
from ahp.system import environ, files
from ahp.system.errors import AhpError, Unknown
from ahp.system.terminal import progress


@click.command()
@click.option("--from", "from_", metavar="REF", help="Judge what comes after this commit, an ancestor of the other.")
@click.option("--to", metavar="REF", help="The commit that is proposed; by default the platform's word, else HEAD.")
@click.option(
    "--target", metavar="BRANCH", help="Where it goes; by default as the platform says, else the default one."
)
@click.option("--before", metavar="REF", help="It is pushed already: the commit that the branch had before.")
@click.option("--source", metavar="BRANCH", help="The branch that it comes from.")
@click.option("--actor", metavar="NAME", help="The account that brings it, where the platform vouches for that.")
@click.option("--without", type=click.Choice(["policy"]), help="Leave out the rules about what it does to the policy.")
@click.option("--only", type=click.Choice(["policy"]), help="Ask only the rules about what it does to the policy.")
@click.option(
    "--format", "form", type=click.Choice(list(FORMATS)), help="Printed; by default text, in GitHub Actions github."
)
@OUTPUTS
@click.option(
    "--attest",
    is_flag=False,
    flag_value=statements.REFS,
    metavar="[FILE]",
    help="Sign what a push to a protected branch was found to be, into refs/ahp/statements/ or lines of FILE.",
)
@click.option("--key", metavar="FILE", help="The SSH key that signs; a public one where an agent has the other half.")
@click.option("--repository", metavar="URI", help="What statements call the repository; by default git+ORIGIN.")
def command(
    from_: str | None,
    to: str | None,
    target: str | None,
    before: str | None,
    source: str | None,
    actor: str | None,
    without: str | None,
    only: str | None,
    form: str | None,
    outputs: tuple[tuple[str, str], ...],
    attest: str | None,
    key: str | None,
    repository: str | None,
) -> int:
    """Judge every commit of a range, the range, and the moves of tickets in it, by the policy of where it goes.

    Range, target and actor come from GitHub Actions or GitLab, on other platforms from the options. Nothing is checked
    out, logged or counted, and no command of a policy runs.

    Exit code 0: it passes, warnings included; 1: it is refused; 2: it could not be judged.
    """
    if without and only:
        raise click.UsageError("--without policy and --only policy leave nothing to ask; give one of them")
    if attest is not None and (not key or from_ or ((to or target) and not before) or without or only):
        raise click.UsageError("--attest takes a whole push, by the platform's word or --before, and needs --key")
    env = environ.current()
    form = form or ("github" if platform.is_github(env) else "text")
    part = ruling.POLICY if only else ruling.OTHERS if without else ruling.ALL
    try:
        told = _judge(env, {"from_": from_, "to": to, "target": target, "before": before}, source, actor, part)
    except AhpError as error:
        told = report("the range could not be judged", 2, [], [], [_mended(error)])
    # First what everybody reads: a file that cannot be written must not hide why the change is refused.
    click.echo(FORMATS[form](told), nl=False)
    if form == "github":
        _summarise(env, told)
    for name, path in outputs:
        files.replace(path, FORMATS[name](told).encode(), 0o644)
    if attest is not None and key:
        click.echo(f"ahp: {_attest(told, attest, key, repository)}", err=True)
    return told.exit_code


def _attest(told: Report, place: str, key: str, repository: str | None) -> str:
    """Signs the statements that are due, and tells where they are. Raises AhpError."""
    if told.judged is None or not told.judged.moves:
        return "no statement is signed: one is due where a push moves a branch whose policy judges it"
    repo = repository_here()
    made = statements.of_each(repo, told.judged, repository or statements.address_of(repo), "ci")
    signed = statements.sign(made, key)
    if place == statements.REFS:
        statements.keep(repo, signed)
    else:
        files.replace(place, b"".join(one + b"\n" for one in signed.values()), 0o644)
    return f"signed, {len(signed)} up to {told.judged.head[:12]}: {one_line(place, 400)}"


def _judge(
    env: dict[str, str], named: dict[str, str | None], source: str | None, actor: str | None, part: str
) -> Report:
    said = platform.proposed(env) or platform.Proposal("run")
    said = said._replace(source=platform.branch_name(source, "--source") or said.source, actor=actor or said.actor)
    if said.kind == "delete":
        return report(f"nothing to judge: {said.target} was deleted", 0, [], [], [])
    repo = repository_here()
    with judging.scratch() as folder:
        is_named = partial(judging.is_named, repo, folder=folder)
        change = change_of(repo, said, is_named, **named)
        with progress("judging commits") as seen:
            return judging.judge(repo, judging.Question(change, said.actor, part), env, folder, seen)


def _mended(error: AhpError) -> str:
    """What is wrong, and the line that mends it."""
    if isinstance(error, Unknown):
        return f"{error.reason}; fix: {error.command}" if error.command else error.reason
    return str(error)


def _summarise(env: dict[str, str], told: Report) -> None:
    """Adds to the summary of the step, where GitHub gives a file for it."""
    path = env.get("GITHUB_STEP_SUMMARY", "")
    if not path:
        return
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(summary(told))
    except OSError as error:
        wrong = f"GITHUB_STEP_SUMMARY names {one_line(path)}, which cannot be written: {error.strerror}"
        raise AhpError(wrong) from None
