"""The catalogue of packs: what each is for, what its rules say, and which of them fit a repository."""

from collections.abc import Iterator
from typing import NamedTuple

from ahp.conditions.globs import glob
from ahp.conditions.guards import Plan
from ahp.conditions.language import children
from ahp.conditions.runtime import key_of
from ahp.policy import layers, sources, starter, survey
from ahp.policy.rule import Policy
from ahp.policy.sources import TextSource
from ahp.system.view import View


class Entry(NamedTuple):
    """A pack: the first sentence of its file, its rules with their messages, and the first file of the repository that
    one of its rules is about, "" for none. `chosen` says that `ahp init` would take it.
    """

    name: str
    about: str
    rules: dict[str, str]
    example: str
    chosen: bool


def entries(tree: View | None, word: str = "") -> list[Entry]:
    """The packs that have `word` in their name or sentence, or with the rules that have it; those first that fit.

    Raises GitError.
    """
    paths = tree.paths() if tree is not None else []
    chosen = starter.packs_for(survey.look(tree), []) if tree is not None else []
    found = []
    for name in sources.packs():
        pack = sources.pack(name)
        head = pack[1].decode().partition("\n")[0].lstrip("# ").partition(". ")[0] if pack else ""
        policy = layers.load(TextSource(f"extends: [{name}]"))
        rules = {rule.key: rule.raw.get("message") or rule.condition.text for rule in policy.rules}
        if word.lower() not in f"{name} {head}".lower():
            rules = {key: text for key, text in rules.items() if word.lower() in f"{key} {text}".lower()}
            if not rules:
                continue
        named = list(_patterns(policy))
        example = next(filter(glob(named), paths), "") if named else ""
        found.append(Entry(name, head.rstrip("."), rules, example, name in chosen))
    return sorted(found, key=lambda entry: (not entry.chosen, not entry.example))


def _patterns(policy: Policy) -> Iterator[str]:
    """The files that rules are about: what their conditions want a path to match, and whose contents they read."""
    for rule in policy.rules:
        yield from (f"/{key}" for path in rule.reads if (key := key_of(path)[1]))
        for part in (rule.condition, rule.when):
            yield from _wanted(part.plan) if part is not None else ()


def _wanted(plan: Plan) -> Iterator[str]:
    if plan[0] in ("glob", "endswith") and plan[2][0] == "const":
        given = plan[2][1] if isinstance(plan[2][1], list) else [plan[2][1]]
        yield from given if plan[0] == "glob" else (f"*{ending}" for ending in given if ending[:1] == ".")
    for child in children(plan) if plan[0] != "not" else ():
        yield from _wanted(child)
