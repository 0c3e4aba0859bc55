"""The text of a project's first policy: packs for what is there, its linters, and what history says (design §10)."""

import textwrap
from collections import Counter
from dataclasses import dataclass, field

from ahp.policy.survey import Survey
from ahp.protocol.text import one_line

_HEAD = """\
# What ahp asks of commits and pushes here. `ahp init` wrote it for: {found}.
# Change it freely, then run `ahp policy lint`. What a rule would say to past commits: ahp try RULE
# Who has no ahp yet installs it with: {install}
version: 1
requires: ">=0.3"

# Packs bring rules; `ahp policy show` lists them all. Change one by giving its id under `rules:`.
extends: [{packs}]

# With this, warnings that nobody heeds turn into refusals:
# escalation: {{ladder: [prompt, control, block], after: 3}}
"""
_UNKNOWN = "(write the command here: this ahp came from a folder of one machine)"
_TEST_HEAD = """\
# What the policy says to made-up changes; `ahp policy test` asks it. One test a rule that matters is a good measure.
"""
_TESTS = (("no-merge-markers", "  facts: {diff: {added: [{path: a.txt, line: 1, text: '<<<<<<< HEAD'}]}}\n"),)
_PROTECTED = "  protected: [{branch}]   # no remote says which branch is the default one\n"
_TYPES = "  commit_types: [{types}]   # the usual ones, and those in use here\n"
_MEANT = "  meant: [{meant}]   # git tracks such files already: rules about names let them be\n"
_RULES = {
    "ruff": """\
  ruff-clean:
    at: pre-push
    each: f in ruff.findings
    prompt: contains(files.changed, f.path)
    on_missing: skip   # where ruff is not installed nobody is bothered
    message: ruff finds something in a file that is pushed
    finding: {file: f.path, line: f.line, message: "{f.message}"}
    fix: ["ruff check --fix"]
""",
    "mypy": """\
  mypy-clean:
    at: pre-push
    each: l in mypy.lines
    prompt: "contains(l, ': error: ') and any(l.startswith(path) for path in files.changed)"
    on_missing: skip
    message: mypy finds an error in a file that is pushed
    fix: ["mypy"]
""",
    "eslint": """\
  eslint-clean:
    at: pre-push
    prompt: eslint.error_count > 0
    on_missing: skip
    message: "eslint finds {eslint.error_count} errors"
    fix: ["npx eslint --fix ."]
""",
}


@dataclass
class Plan:
    """What goes into the text. `watched` maps rules that would have stopped the work to the reason, in words, `asked`
    those that begin as a prompt.

    `branch` is the default branch where only its name here tells it, else "". `types` are the types of conventional
    commits, where the usual ones are not all that are in use; `meant` are globs of files that git tracks. `install` is
    the command that installs ahp on any machine, "" where none is known.
    """

    survey: Survey
    packs: list[str]
    branch: str = ""
    install: str = ""
    types: list[str] = field(default_factory=list)
    meant: list[str] = field(default_factory=list)
    watched: dict[str, str] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)


def packs_for(survey: Survey, subjects: list[str]) -> list[str]:
    """The packs for a project; conventional commits where at least four of five subjects already are, or where a
    checker asks for them and there are no five.
    """
    packs = ["core", *survey.languages]
    packs += ["agents"] if survey.agents else []
    written = [subject for subject in subjects if not subject.startswith(("Merge ", 'Revert "'))]
    is_convention = _are_conventional(written) if len(written) >= 5 else bool(survey.commit_types)
    packs += ["conventional-commits"] if is_convention else []
    # Both bring `tickets`; what is said in Chinese comes first, because Monoco's own commands have no language.
    gates = (["tickets-zh"] if survey.chinese else []) + (["monoco"] if survey.monoco else [])
    return packs + ((gates or ["tickets"]) if survey.tickets else [])


def _are_conventional(subjects: list[str]) -> bool:
    """Whether four of five begin with a type, most of these with a usual one: many projects begin with the part that
    changes, as in `net: …`.
    """
    from ahp.facts.commit_message import conventional
    from ahp.policy import layers
    from ahp.policy.sources import TextSource

    types = [kind for subject in subjects if (kind := conventional(subject)[0])]
    if len(types) * 5 < len(subjects) * 4:
        return False
    usual = layers.load(TextSource("extends: [conventional-commits]")).limits()["commit_types"]
    return isinstance(usual, list) and sum(kind in usual for kind in types) * 2 > len(types)


def types_for(subjects: list[str], usual: list[str]) -> list[str]:
    """The `usual` types and those that two subjects and one in 400 have besides; empty when there are none besides."""
    from ahp.facts.commit_message import conventional

    found = Counter(conventional(subject)[0] for subject in subjects)
    own = sorted(
        kind
        for kind, times in found.items()
        if kind and times > 1 and times * 400 >= len(subjects) and kind not in usual
    )
    return [*usual, *own] if own else []


def write(plan: Plan) -> str:
    """The policy as YAML text, the same for the same plan."""
    survey = plan.survey
    found = ", ".join(survey.found()) or "a project without a known language or tool"
    parts = [_HEAD.format(found=found, install=plan.install or _UNKNOWN, packs=", ".join(plan.packs))]
    limits = [_PROTECTED.format(branch=_quoted(plan.branch))] if plan.branch else []
    limits += [_TYPES.format(types=", ".join(map(_quoted, plan.types)))] if plan.types else []
    limits += [_MEANT.format(meant=", ".join(map(_quoted, plan.meant)))] if plan.meant else []
    parts += ["\nlimits:\n", *limits] if limits else []
    tools = [tool for tool in _RULES if tool in survey.tools]
    if tools:
        presets = {"mypy": "mypy-configured"} if survey.mypy_files else {}
        parts.append("\n# Commands run only where a person accepted them, with `ahp init` or `ahp trust`.\nfacts:\n")
        parts += [f"  {tool}: {{preset: {presets.get(tool, tool)}}}\n" for tool in tools]
    rules = [_RULES[tool] for tool in tools] + _overrides(plan)
    if rules:
        parts.append("\nrules:\n" + "\n".join(rules))
    return "".join(parts)


def _overrides(plan: Plan) -> list[str]:
    rules = []
    if plan.branch:
        here = "branch.name in limits.protected"
        rules += _override(plan, "protect-main", f"{here} and not push.is_new and not push.is_delete")
        rules += _override(plan, "no-force-push", f"{here} and push.is_force")
        rules += _override(plan, "keep-main", f"{here} and push.is_delete")
    named = {"protect-main", "no-force-push", "keep-main"} if plan.branch else set()
    for rule in dict.fromkeys([*plan.watched, *plan.asked]):
        if rule not in named:
            rules += _override(plan, rule)
    return rules


def _override(plan: Plan, rule: str, condition: str = "") -> list[str]:
    """A pack's rule with a condition or a level of its own."""
    keys = [f"block: {condition}"] if condition else []
    why: list[str] = []
    if rule in plan.watched:
        why = _why(plan.watched[rule], "it only watches, in `ahp log`; to enforce it, take `shadow: true` away")
        keys.append("shadow: true")
    elif rule in plan.asked:
        why = _why(plan.asked[rule], "it only asks; to have it refuse, take `level: prompt` away")
        keys.append("level: prompt")
    if condition:
        return ["\n".join([*why, f"  {rule}:", *[f"    {key}" for key in keys]]) + "\n"]
    return ["\n".join([*why, f"  {rule}: {{{', '.join(keys)}}}"]) + "\n"]


def _why(reason: str, then: str) -> list[str]:
    said = f"{one_line(reason, 300)} So {then}."
    return [f"  # {line}" for line in textwrap.wrap(said, 112, break_on_hyphens=False)]


def first_test(plan: Plan) -> str:
    """A policy test that holds for this plan, as YAML text."""
    quiet = {*plan.watched, *plan.asked}
    rule, facts = next((one for one in _TESTS if one[0] not in quiet), ("", ""))
    expect = f"{{decision: deny, signals: [{{rule: {rule}, intensity: block}}]}}" if rule else "{decision: allow}"
    name = f"{rule} refuses this" if rule else "an ordinary change is allowed"
    return f"{_TEST_HEAD}- name: {name}\n  trigger: pre-commit\n{facts}  expect: {expect}\n"


def _quoted(text: str) -> str:
    """A name without control characters as a YAML text in single quotes."""
    return "'" + text.replace("'", "''") + "'"
