"""`ahp policy`: lint, show, packs, schema, test and diff."""

import json
import os
import sys
from typing import Any

import click

from ahp.cli.groups import Group
from ahp.cli.options import POLICY, TEXT_OR_JSON
from ahp.cli.policy_test import show as show_tests
from ahp.conditions import compare
from ahp.facts.policy import AGENT_FILE, judging, suspects
from ahp.hosts import policy_test, vendoring
from ahp.hosts.asking import around, repository_here
from ahp.hosts.catalogue import entries
from ahp.hosts.policy_here import looked_at
from ahp.hosts.policy_test import example, rehearse
from ahp.policy import cache, examples, waivers, yamltext
from ahp.policy import compile as compiling
from ahp.policy import show as showing
from ahp.policy.jsonschema import schema as made
from ahp.policy.lint import advise, compare_evaluators, missing_folders
from ahp.policy.problems import Place, PolicyError, Problem
from ahp.policy.rule import rule_digest
from ahp.policy.sources import misnamed
from ahp.policy.weakening import Sides
from ahp.protocol.text import one_line
from ahp.system import files, installed, jsontext, wings
from ahp.system.errors import AhpError
from ahp.system.history import CommitView
from ahp.system.terminal import table
from ahp.system.worktree import WorkTreeView
from ahp.system.yamltree import YamlError

_TOLD_WHOLE = ("rule", "waiver", "test", "judge", "shared")  # parts whose sentence names them, or that are all there is


@click.group("policy", cls=Group)
def command() -> None:
    """Lint, show, test, compare and describe policies, and list packs."""


@command.command()
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False))
@POLICY
@TEXT_OR_JSON
def lint(file: str | None, policy_name: str | None, form: str) -> int:
    """Check the policy of this folder with its waivers, or FILE by itself, and give advice.

    Advice also covers policy tests and the runner's settings. A second evaluator checks each condition on generated
    facts.

    Exit code 0 for a valid policy, advice or not; 2 for one that is refused.
    """
    try:
        other = file or policy_name
        policy = _policy(other)
        compare_evaluators(policy)
        if not other:
            _waivers()
    except PolicyError as error:
        _say_problems(error.problems, [], form)
        return 2
    advice = advise(policy) + ([] if other else _of_the_folder(policy))
    _say_problems([], advice, form)
    if not policy.rules and form == "text":
        click.echo("the policy has no rules; `ahp init` writes one", err=True)
    elif not advice and form == "text" and sys.stdout.isatty():
        click.echo("ahp: the policy is valid, and there is no advice")
    if form == "text" and sys.stdout.isatty() and compare.solver() is None:
        click.echo(_by_normal_forms())
    return 0


def _policy(name: str | None) -> Any:
    """The policy called `name`, else that of the current folder, compiled and stored: the next hook finds it ready."""
    where = around(os.getcwd())
    if name or not os.path.lexists(where.root + cache.PROJECT):
        return looked_at(name, where)
    return compiling.build(where.root, where.journal, where.user_policy)[0]


def _by_normal_forms() -> str:

    return f"conditions were compared by their normal forms; to prove more: {installed.command('proofs')}"


def _waivers() -> Any:
    """The waivers of the current folder. Raises PolicyError with every mistake in their file."""
    return waivers.in_force(_beside)


def _beside(path: str) -> bytes | None:
    """A file of the current folder's project, None where there is none."""

    return files.read(os.path.join(around(os.getcwd()).root, path), 1 << 20)


def _waived(policy: Any) -> list[Problem]:
    """Advice on waivers of the current folder that hold no longer, or soon will not."""
    data = _beside(waivers.PATH) or b""
    node, digests = yamltext.parse(data, waivers.PATH), {rule.key: rule_digest(rule, policy) for rule in policy.rules}
    given = waivers.parse(data).waivers
    every = [waivers.Waivers(waivers=[one]).warnings(waivers.now(), digests) for one in given]
    return [Problem(node.at((at,)).place, told) for at, some in enumerate(every) for told in some] if node else []


def _of_the_folder(policy: Any) -> list[Problem]:
    """Advice on what stands beside the policy."""
    root = around(os.getcwd()).root
    named = [Problem(Place(file), what) for file, _, what in (told.partition(" ") for told in misnamed(root))]
    missing = missing_folders(policy, root) if root else []
    return [*missing, *_waived(policy), *named, *_tests_and_runner(root or os.getcwd())]


def _tests_and_runner(root: str) -> list[Problem]:
    """What is wrong with the policy tests and the runner's settings of the project at `root`."""
    found = policy_test.mistakes(root)
    if os.path.lexists(f"{root}/{AGENT_FILE}") and (place := wings.added("settings").get(AGENT_FILE)):
        try:
            wings.load(place)(root)
        except YamlError as error:
            found += [Problem(fault.place, fault.what) for fault in error.faults]
        except AhpError as error:
            said = [line.removeprefix(f"{AGENT_FILE}: ") for line in str(error).splitlines()]
            found += [Problem(Place(AGENT_FILE), line) for line in said]
    return found


def _say_problems(problems: list[Problem], advice: list[Problem], form: str) -> None:
    if form == "json":
        found = {"valid": not problems, "problems": _plain(problems), "advice": _plain(advice)}
        click.echo(jsontext.encode(found))
        return
    for problem in problems:
        click.echo(str(problem))
    for problem in advice:
        click.echo(f"{problem}  (advice)")


def _plain(problems: list[Problem]) -> list[dict[str, object]]:
    return [{**problem.place._asdict(), "what": problem.what, "mended": problem.mended} for problem in problems]


@command.command()
@POLICY
@click.option("--all", "whole", is_flag=True, help="With the digests of rules, and values of any length.")
@TEXT_OR_JSON
def show(policy_name: str | None, whole: bool, form: str) -> int:
    """Print the merged policy, with the layer that each part comes from, and the waivers of its rules."""
    policy = _policy(policy_name)
    known = waivers.Waivers() if policy_name else _waivers()
    waived = [waiver.model_dump(mode="json") for waiver in known.waivers]
    described = showing.describe(policy, waived)
    if form == "json":
        click.echo(jsontext.visible(json.dumps(described, ensure_ascii=False, indent=2)))
        return 0
    for number, (heading, rows) in enumerate(showing.sections(described, whole)):
        click.echo("\n" * (number > 0) + heading)
        table(rows, indent=2)
    digests = {str(rule["rule"]): str(rule["digest"]) for rule in described["rules"]}
    for warning in known.warnings(waivers.now(), digests):
        click.echo(warning)
    return 0


@command.command()
@click.argument("word", default="")
@TEXT_OR_JSON
def packs(word: str, form: str) -> int:
    """List the packs, those first that fit this repository; with WORD, those that have it, and their rules."""
    repo = around(os.getcwd()).repo
    found = entries(WorkTreeView(repo) if repo is not None and repo.root else None, word)
    if form == "json":
        click.echo(jsontext.encode([entry._asdict() for entry in found]))
        return 0
    fits = ["fits" if e.chosen else f"fits: {one_line(e.example, 60)}" if e.example else "" for e in found]
    table([(entry.name, told, entry.about) for entry, told in zip(found, fits, strict=True)])
    for entry in found if word else ():
        click.echo(f"\n{entry.name}")
        table(list(entry.rules.items()), indent=2)
    return 0 if found else 1


@command.command()
def schema() -> int:
    """Print the JSON Schema of hooks.yaml, for editors."""
    click.echo(json.dumps(made(), indent=2))
    return 0


@command.command()
@click.argument("paths", metavar="[FILE]…", nargs=-1, type=click.Path(exists=True, dir_okay=False))
@POLICY
@click.option("--format", "form", type=click.Choice(["text", "json", "junit"]), default="text", show_default=True)
@click.option("--all", "whole", is_flag=True, help="List the rules of packs that no test reached, too.")
def test(paths: tuple[str, ...], policy_name: str | None, form: str, whole: bool) -> int:
    """Run the policy's tests: FILEs, or all of .ahp/tests/*.yaml, against the project's policy or --policy.

    Exit code 0 when all hold, 1 when one fails, 2 when a test or the policy is invalid.
    """
    return show_tests(rehearse(paths, policy_name), form, whole)


@command.command()
@click.argument("ref", default="HEAD")
@click.option("--prove", is_flag=True, help="Say what was proven, within which bounds, and give policy tests to paste.")
@TEXT_OR_JSON
def diff(ref: str, prove: bool, form: str) -> int:
    """Compare the project's policy at the commit REF with the one in the work tree, rule by rule.

    Waivers, approvers, policy tests, the pin of ahp and the jobs that judge in CI are compared, too. With the extra
    `proofs`, a solver compares conditions and gives facts that tell two apart. What cannot be shown to be as strict is
    marked `unknown`.
    """
    if prove and compare.solver() is None:
        raise AhpError(f"no solver is installed: {installed.command('proofs')}")
    repo = repository_here()
    old = CommitView(repo, ref)
    new = WorkTreeView(repo, old.new)
    sides = Sides(old, new)
    changes = sides.compared() + sides.beside([*suspects(new.change().entries), *judging(new.change().entries)])
    if form == "json":
        keys = ("trigger", "key", "part", "verdict", "detail")
        found = [
            {**{key: getattr(c, key) for key in keys}, "position": str(c.place), "examples": examples.told(c)}
            for c in changes
        ]
        click.echo(jsontext.encode(found))
    else:
        for change in changes:
            at = f" at {change.trigger}" if change.trigger else ""
            part = "" if change.part in _TOLD_WHOLE else f"{change.part}: "
            click.echo(f"{change.verdict}: {change.key}{at}: {part}{one_line(change.detail, 500)}")
            for told in examples.told(change):
                click.echo(f"  {one_line(told, 500)}")
            if prove and change.proof is not None:
                if change.verdict not in ("unknown", "incomparable"):
                    click.echo(f"  proven {examples.BOUNDS}")
                for one, why in change.proof.free.items():
                    click.echo(f"  taken for any value, at {change.place}: {one_line(one, 200)} ({why})")
                if sides.policies and (test := example(change, *sides.policies)):
                    click.echo(f"  a test that holds now and failed before:\n{test}")
        if not changes:
            click.echo(f"no rule judges otherwise than at {one_line(ref)}")
        elif compare.solver() is None:
            click.echo(_by_normal_forms())
    return 0


@command.command()
@click.argument("name", required=False, default="")
@click.option("--check", is_flag=True, help="Write nothing; say what is behind.")
def update(name: str, check: bool) -> int:
    """Fetch the shared policies that `extends:` names, or the one called NAME, into .ahp/vendor and .ahp/policy.lock.

    A version that none of its `signers` signed is refused, and what is here stays. No hook and no CI ever fetches.

    Exit code 0 when all is up to date or was written; with --check 1 when something is behind; 2 when a version is
    refused or cannot be fetched.
    """
    repo = repository_here()
    if check:
        found = vendoring.behind(repo)
        for called, why in found.items():
            click.echo(f"{called}: {why}")
        return 1 if found else 0
    for called, one in vendoring.update(repo, name).items():
        click.echo(f"{called}: {one.ref} is {one.commit[:10]}, signed by {one_line(one.signer)}")
    click.echo("next: ahp policy diff; git add -f .ahp/vendor .ahp/policy.lock && git commit")
    return 0


@command.command()
@click.option("--from", "listing", metavar="LIST", required=True, type=click.Path(exists=True, dir_okay=False))
@TEXT_OR_JSON
def fleet(listing: str, form: str) -> int:
    """Which repository is on which version of its shared policies, by the default branches of clones or bare mirrors.

    LIST has the path of one clone a line, from the folder that LIST is in. Exit code 1 when one is behind the newest
    version among them, has no shared policy, or cannot be read.
    """
    with open(listing, encoding="utf-8", errors="surrogateescape") as file:
        lines = [line.strip() for line in file]
    paths = [os.path.join(os.path.dirname(listing), line) for line in lines if line and not line.startswith("#")]
    found = vendoring.fleet(paths)
    if form == "json":
        click.echo(jsontext.encode(found))
    else:
        shown = ("repository", "name", "ref", "commit", "state")
        table([[one_line(one[key])[: 10 if key == "commit" else None] for key in shown] for one in found])
    return 1 if any(one["state"] != "newest" for one in found) else 0
