"""Words of other tools, of git and of look-alike letters: which key, value or trigger of a policy they stand for."""

import unicodedata
from collections.abc import Sequence

from ahp.policy.models import OracleKeys, ShortRule
from ahp.policy.problems import nearest
from ahp.protocol.triggers import TRIGGERS

# Levels as other tools call them.
LEVELS = {
    **dict.fromkeys(("error", "deny", "refuse", "reject", "forbid", "fail"), "block"),
    **dict.fromkeys(("warn", "warning", "ask"), "prompt"),
    **dict.fromkeys(("info", "note", "notice", "advise", "suggest"), "aid"),
}
# Keys as other tools call them.
_KEYS = {
    **dict.fromkeys(("command", "cmd", "exec", "entry"), "run"),
    **dict.fromkeys(("trigger", "triggers", "stage", "stages", "event", "hook", "hooks"), "at"),
    **dict.fromkeys(("path", "filename"), "file"),
    **dict.fromkeys(("description", "msg", "text", "reason"), "message"),
    **dict.fromkeys(("hint", "help", "suggestion", "remedy"), "fix"),
    "active": "enabled",
    **dict.fromkeys(("for", "foreach", "for_each"), "each"),
    **dict.fromkeys(("constants", "vars", "variables", "params"), "limits"),
    **dict.fromkeys(("env", "environments"), "environment"),
    **dict.fromkeys(("include", "includes", "packs", "imports"), "extends"),
    **dict.fromkeys(("if", "expression", "expr"), "condition"),
}
# Keys of the short form, and what a rule under a trigger has in their place.
_SHORT = {
    "fix": "in this form it is `resolution:`, and `suggestions:`",
    "at": "in this form a rule stands under its trigger",
    "level": "in this form it is called `intensity`",
}
# Hooks of git that are no triggers, and what judges what they are about.
_GIT = {
    **dict.fromkeys(
        ("pre-receive", "update", "post-receive", "reference-transaction"),
        "a server asks the rules of pre-commit, commit-msg and pre-push (docs/ci.md)",
    ),
    **dict.fromkeys(("prepare-commit-msg", "applypatch-msg"), "rules about a message are asked at commit-msg"),
    "pre-applypatch": "rules about a commit are asked at pre-commit",
    "post-merge": "rules about a merge are asked at pre-merge-commit",
    **dict.fromkeys(
        ("pre-rebase", "post-rewrite", "post-checkout"), "what such a command makes is judged at the push: pre-push"
    ),
}
_ALIKE = str.maketrans("аеорсухіјѕԁһɡαοριν", "aeopcyxijsdhgaopiv")  # Cyrillic, Greek and phonetic letters: Latin ones


def key(name: str, valid: Sequence[str]) -> str:
    """The sentence tail for a key that is none of the `valid` ones; "" where nothing is near."""
    known = _KEYS.get(name, name)
    if {"rules", "extends"} <= set(valid) and (name == "repos" or name in TRIGGERS or name in _GIT):
        other = "pre-commit" if name == "repos" else "lefthook"
        return f"; this looks like {other}'s file; here rules stand under `rules:` and say `at:` (docs/coming-from.md)"
    if known == "condition" and set(ShortRule.LEVELS) <= set(valid):
        return "; here the level has the condition: `block: …`, `prompt: …`"
    if known == "intensity" and set(ShortRule.LEVELS) <= set(valid):
        return "; here the level is the key of the condition: `block: …`, `prompt: …`"
    if name == "refines" and set(ShortRule.LEVELS) <= set(valid):
        return "; only a rule under `hooks:` has it, beside the rule that it refines"
    if name in _SHORT and "intensity" in valid:
        return f"; {_SHORT[name]}"
    if name in ShortRule.LEVELS and "intensity" in valid:
        return f"; in this form a rule has `condition: …` and `intensity: {name}`"
    if known in ("id", "condition", "intensity", *ShortRule.LEVELS) and set(valid) <= {
        *OracleKeys.model_fields,
        *_LIST,
    }:
        return "; it belongs to a rule, and rules stand in a list under `rules:`"
    if name == "disabled" and "enabled" in valid:
        return "; write `enabled: false`"
    if LEVELS.get(name) in valid:
        return f"; the level is called `{LEVELS[name]}`"
    if known != name and known in valid:
        return f"; it is called `{known}`"
    return _alike(name, valid) or nearest(name, valid)


_LIST = ("name", "rules")


def _alike(name: str, valid: Sequence[str]) -> str:
    """What to say of a name that looks like a valid one, and has letters of another script."""
    meant = name.translate(_ALIKE)
    if meant == name or meant not in valid:
        return ""
    at, letter = next((at, one) for at, one in enumerate(name, 1) if ord(one) > 127)
    called = unicodedata.name(letter, "").lower()
    return f"; its letter {at} is U+{ord(letter):04X} ({called}); write `{meant}`"


def is_rule(value: object) -> bool:
    """Whether the value of a key is a short rule."""
    return isinstance(value, dict) and bool(value.keys() & {"at", *ShortRule.LEVELS})


def value(word: str, valid: Sequence[str]) -> str:
    """The sentence tail for a word that is none of the `valid` ones."""
    level = LEVELS.get(word)
    return f"; it is called `{level}`" if level in valid else nearest(word, valid)


def no_trigger(name: str) -> tuple[str, str]:
    """What to say of a text that is no trigger, and the line with the list that it was meant to be ("" for none)."""
    several = [word.lstrip("-") for word in name.replace(",", " ").split()]
    if len(several) > 1 and all(one in TRIGGERS for one in several):
        return f"`{name[:60]}` is one text; several triggers are a list", f"at: [{', '.join(several)}]"
    if name in _GIT:
        return f"no trigger is called `{name}`; {_GIT[name]}", ""
    return f"no trigger is called `{name[:60]}`{nearest(name, TRIGGERS)}", ""
