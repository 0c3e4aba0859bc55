"""Advice on `.ahp/approvers`, whose keys may sign an override for CI (authority §6).

The format is ALLOWED SIGNERS of ssh-keygen(1). ssh-keygen skips a line that it cannot read, without a word: its
key approves nothing. So it is asked here what it says of each line.
"""

import re
import time

from ahp.facts.policy import APPROVERS
from ahp.policy.problems import Place, Problem, quoted
from ahp.protocol.text import one_line
from ahp.system import environ, process
from ahp.system.errors import AhpError

_LINE = re.compile(r'(?P<principals>(?:[^\s"]|"[^"]*")+)\s+(?P<options>.*?)(?P<kind>(?:sk-)?(?:ssh|ecdsa|rsa)-\S+)\s')
_OPTION = re.compile(r'([a-z-]+)="([^"]*)"')
_SAID = re.compile(r"^.*?:(\d+): (.*)$", re.MULTILINE)
_TIMEOUT, _LONGEST = 10.0, 1 << 20


def advise(data: bytes, software_keys: bool, now: float) -> list[Problem]:
    """What is broken, wider than it looks, or without effect in the approvers' file, by line.

    `software_keys` is what the policy says, `now` the clock in seconds since the epoch. Without an ssh-keygen that has
    `match-principals` (OpenSSH 8.9) broken lines are not told.
    """
    lines = [line.strip() for line in data.decode("utf-8", "replace").split("\n")]
    broken = _broken(lines)
    found: list[Problem] = []
    for number, line in enumerate(lines, start=1):
        what = [f"this line approves for nobody: {broken[number]}"] if number in broken else []
        if not what and (read := _LINE.match(line)) and not line.startswith("#"):
            what = _of_line(read["principals"].strip('"'), read["options"], read["kind"], software_keys, now)
        found += [Problem(Place(APPROVERS, number, 1), one) for one in what]
    return found


def _broken(lines: list[str]) -> dict[int, str]:
    """What ssh-keygen says of the lines that it cannot read, by number. It reads those of the principal asked for."""
    asked = [re.sub(r'^(?!#)(?:[^\s"]|"[^"]*")+', "ahp", line) for line in lines]
    env = {**environ.scrubbed(environ.current()), "LC_ALL": "C"}
    run = ["-Y", "match-principals", "-I", "ahp", "-f", "/dev/stdin"]
    try:
        keygen = process.find("ssh-keygen", env) or ""
        told = process.capture(
            [keygen, *run], timeout=_TIMEOUT, env=env, stdin="\n".join(asked).encode(), limit=_LONGEST
        )
    except AhpError:
        return {}
    return {int(number): one_line(why.strip()) for number, why in _SAID.findall(told.err.decode("utf-8", "replace"))}


def _of_line(principals: str, options: str, kind: str, software_keys: bool, now: float) -> list[str]:
    found, given = [], dict(_OPTION.findall(options))
    if patterns := [name for name in principals.split(",") if set("*?!") & set(name)]:
        found.append(f"{quoted(patterns[0])} is a pattern: reports would tell it in place of the person who approved")
    if "cert-authority" in options:
        found.append("`cert-authority`: whoever this key certifies approves, and no change of this file says who")
    if not kind.startswith("sk-") and not software_keys:
        found.append(f"a key of the type {quoted(kind)} does not count: the policy does not say `software_keys: true`")
    if "git" not in given.get("namespaces", "git").split(","):
        found.append("its namespaces are without `git`, which commits are signed for")
    # ahp has ssh-keygen read all times in UTC
    until = given.get("valid-before", "9").removesuffix("Z").ljust(14, "0")
    if until < time.strftime("%Y%m%d%H%M%S", time.gmtime(now)):
        found.append("the key is not valid any more")
    return found
