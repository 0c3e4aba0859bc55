"""The text of a project's first policy: packs for what is there, its linters, and what history says (design §10)."""

import textwrap
from collections import Counter
from dataclasses import dataclass, field

from ahp.policy.survey import Survey
from ahp.protocol.text import one_line

_HEAD = """\
# What ahp asks of commits and pushes here. `ahp init` wrote it for: {found}.
# Change it freely, then run `ahp policy lint`. What a rule would say to past commits: ahp try RULE
version: 1
requires: ">=0.3"

# Packs bring rules; `ahp policy show` lists them all. Change one by giving its id under `rules:`.
extends: [{packs}]

# With this, warnings that nobody heeds turn into refusals:
# escalation: {{ladder: [prompt, control, block], after: 3}}
"""
_PROTECTED = "  protected: [{branch}]   # no remote says which branch is the default one\n"
_TYPES = "  commit_types: [{types}]   # the usual ones, and those in use here\n"
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
    """What goes into the text. `watched` maps rules that history would have blocked to the reason, in words.

    `branch` is the default branch where only its name here tells it, else "". `types` are the types of conventional
    commits, where the usual ones are not all that are in use.
    """

    survey: Survey
    packs: list[str]
    branch: str = ""
    types: list[str] = field(default_factory=list)
    watched: dict[str, str] = field(default_factory=dict)


def packs_for(survey: Survey, subjects: list[str]) -> list[str]:
    """The packs for a project; conventional commits where at least four of five subjects already are."""
    from ahp.facts.commit_message import conventional

    packs = ["core", *survey.languages]
    packs += ["agents"] if survey.agents else []
    written = [subject for subject in subjects if not subject.startswith(("Merge ", 'Revert "'))]
    follow = sum(1 for subject in written if conventional(subject)[0])
    packs += ["conventional-commits"] if len(written) >= 5 and follow * 5 >= len(written) * 4 else []
    # Both bring `tickets`; what is said in Chinese comes first, because Monoco's own commands have no language.
    gates = (["tickets-zh"] if survey.chinese else []) + (["monoco"] if survey.monoco else [])
    return packs + ((gates or ["tickets"]) if survey.tickets else [])


def types_for(subjects: list[str], usual: list[str]) -> list[str]:
    """The `usual` types and those that at least two subjects have besides; empty when there are none besides."""
    from ahp.facts.commit_message import conventional

    found = Counter(conventional(subject)[0] for subject in subjects)
    own = sorted(kind for kind, times in found.items() if kind and times > 1 and kind not in usual)
    return [*usual, *own] if own else []


def write(plan: Plan) -> str:
    """The policy as YAML text, the same for the same plan."""
    survey = plan.survey
    found = ", ".join(survey.found()) or "a project without a known language or tool"
    parts = [_HEAD.format(found=found, packs=", ".join(plan.packs))]
    limits = [_PROTECTED.format(branch=_quoted(plan.branch))] if plan.branch else []
    limits += [_TYPES.format(types=", ".join(map(_quoted, plan.types)))] if plan.types else []
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
    watched = dict(plan.watched)
    if plan.branch:
        here = "branch.name in limits.protected"
        lines = ["  protect-main:", f"    block: {here} and not push.is_new and not push.is_delete"]
        if "protect-main" in watched:
            lines[:0] = _why(watched.pop("protect-main"))
            lines.append("    shadow: true")
        rules.append("\n".join(lines) + "\n")
        rules.append(f"  no-force-push:\n    block: {here} and push.is_force\n")
        rules.append(f"  keep-main:\n    block: {here} and push.is_delete\n")
    rules += ["\n".join([*_why(reason), f"  {rule}: {{shadow: true}}"]) + "\n" for rule, reason in watched.items()]
    return rules


def _why(reason: str) -> list[str]:
    said = f"{one_line(reason, 300)} So it only watches, in `ahp log`; to enforce it, take `shadow: true` away."
    return [f"  # {line}" for line in textwrap.wrap(said, 112, break_on_hyphens=False)]


def _quoted(text: str) -> str:
    """A name without control characters as a YAML text in single quotes."""
    return "'" + text.replace("'", "''") + "'"
