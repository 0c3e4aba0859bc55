"""Advice on `.ahp/approvers`, whose keys may sign an override for CI (authority §6).

The format is ALLOWED SIGNERS of ssh-keygen(1). ssh-keygen skips a line that it cannot read, without a word: its
key approves nothing.
"""

import base64
import binascii
import re
from datetime import UTC, datetime

from ahp.facts.policy import APPROVERS
from ahp.policy.problems import Place, Problem, quoted

_WORD = re.compile(r'(?:[^\s"]|"[^"]*")+')
_OPTION = re.compile(r'([a-z-]+)(?:="([^"]*)")?(?:,|$)')
_VALUED = ("namespaces", "valid-after", "valid-before")
_TIMES = ("%Y%m%d", "%Y%m%d%H%M", "%Y%m%d%H%M%S")
_NAMESPACE = "git"


def advise(data: bytes, software_keys: bool, now: float) -> list[Problem]:
    """What is broken, wider than it looks, or without effect in the approvers' file, by line.

    `software_keys` is what the policy says, `now` the clock in seconds since the epoch.
    """
    found: list[Problem] = []
    lines = data.decode("utf-8", "replace").split("\n")
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if text and not text.startswith("#"):
            place = Place(APPROVERS, number, 1)
            found += [Problem(place, what) for what in _of_line(text, software_keys, now)]
    return found


def _of_line(text: str, software_keys: bool, now: float) -> list[str]:
    words = _WORD.findall(text)
    if text.count('"') % 2:
        return [_nobody("a quote is not closed")]
    at = next((at for at, word in enumerate(words) if at and _is_type(word)), 0)
    if not at or at > 2 or len(words) <= at + 1:
        return [_nobody("it is not PRINCIPALS [OPTIONS] KEY-TYPE KEY")]
    options, wrong = _options(words[1] if at == 2 else "")
    wrong = wrong or _wrong_key(words[at], words[at + 1])
    if wrong:
        return [_nobody(wrong)]
    found = _wide(words[0].strip('"'), options)
    found += _idle(words[at], options, software_keys, now)
    return found


def _nobody(why: str) -> str:
    return f"this line approves for nobody: {why}"


def _is_type(word: str) -> bool:
    return word.startswith(("ssh-", "sk-", "ecdsa-", "rsa-"))


def _options(text: str) -> tuple[dict[str, str], str]:
    """The options by name, and what is wrong with them ("" for nothing)."""
    found: dict[str, str] = {}
    at = 0
    while at < len(text):
        match = _OPTION.match(text, at)
        name = match[1].lower() if match else ""
        if match is None or (name != "cert-authority" and (name not in _VALUED or match[2] is None)):
            return {}, f"{quoted(text[at:])} is no option of ssh-keygen"
        found[name] = match[2] or ""
        at = match.end()
    for name in ("valid-after", "valid-before"):
        if name in found and _time(found[name]) is None:
            return {}, f"{quoted(found[name])} is no time; write YYYYMMDD or YYYYMMDDHHMMZ"
    return found, ""


def _time(text: str) -> float | None:
    """Seconds since the epoch: ahp has ssh-keygen read all times in UTC."""
    for form in _TIMES:
        try:
            return datetime.strptime(text.removesuffix("Z"), form).replace(tzinfo=UTC).timestamp()
        except ValueError:
            continue
    return None


def _wrong_key(kind: str, key: str) -> str:
    try:
        blob = base64.b64decode(key, validate=True)
    except (ValueError, binascii.Error):
        return "its key is not base64"
    length = int.from_bytes(blob[:4], "big")
    named = blob[4 : 4 + length].decode("ascii", "replace")
    if len(blob) <= 4 + length or not named:
        return "its key is cut"
    return "" if named == kind else f"its key is of the type {quoted(named)}, not {quoted(kind)}"


def _wide(principals: str, options: dict[str, str]) -> list[str]:
    """Lines that name more than one person with one key."""
    found = []
    patterns = [name for name in principals.split(",") if set("*?!") & set(name)]
    if patterns:
        shown = quoted(patterns[0])
        found.append(f"{shown} is a pattern: reports would tell it in place of the person who approved")
    if "cert-authority" in options:
        found.append("`cert-authority`: whoever this key certifies approves, and no change of this file says who")
    return found


def _idle(kind: str, options: dict[str, str], software_keys: bool, now: float) -> list[str]:
    """Why the key does not count now."""
    found = []
    if not kind.startswith("sk-") and not software_keys:
        found.append(f"a key of the type {quoted(kind)} does not count: the policy does not say `software_keys: true`")
    if _NAMESPACE not in options.get("namespaces", _NAMESPACE).split(","):
        found.append("its namespaces are without `git`, which commits are signed for")
    if (_time(options.get("valid-before", "")) or now) < now:
        found.append("the key is not valid any more")
    return found
