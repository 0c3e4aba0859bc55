"""What `ahp doctor` says of the box: one is started, and each row of the table is tried in it."""

import os
import shlex

from ahp.box import engine, place, table
from ahp.hosts import asking
from ahp.hosts.table import Check
from ahp.policy.judges import judges_of
from ahp.policy.problems import PolicyError
from ahp.protocol.event import identify
from ahp.system import environ
from ahp.system.errors import AhpError
from ahp.system.git import Repository

_TIMEOUT = 60.0
_CANARY = "AHP_CANARY"


def _refused(*places: str) -> str:
    return " && ".join(f"! (: >> {one}) 2> /dev/null" for one in places)


# The rows of the table, each with a text of `sh` that ends with 0 where it holds; it knows ROOT, GIT, SOCKETS, OUTSIDE.
ROWS = {
    "writable": 'rm "$(mktemp ./XXXXXX)" "$(mktemp)" "$(mktemp ~/XXXXXX)"',
    "read-only": _refused("/etc/passwd", "/usr/.ahp-probe", "/proc/sys/kernel/core_pattern"),
    "git directory": _refused('"$GIT/HEAD"', '"$GIT/config"', '"$GIT/hooks/ahp-probe"'),
    "policy": _refused('"$ROOT/.ahp/hooks.yaml"', '"$ROOT/.mcp.json"'),
    "hidden": "! ls ~/.ssh ~/.gnupg ~/.aws /run/*/ 2> /dev/null | grep -q .",
    "sockets": 'for one in $SOCKETS; do [ ! -S "$one" ] || exit 1; done',
    "environment": f"! cat /proc/*/environ 2> /dev/null | grep -q {_CANARY}",
    "network": "! grep -v -e '|' -e ' lo:' /proc/net/dev",
    "processes": '[ "$(readlink /proc/self/ns/pid)" != "$OUTSIDE" ]',
    "privileges": "grep -q 'CapEff:.0*$' /proc/self/status && grep -q 'NoNewPrivs:.1' /proc/self/status",
}


def examine(repo: Repository) -> list[Check]:
    """Where a rule has calls run in a box: whether one can start here, and which row of the table does not hold."""
    where = asking.around(repo.root)
    event = asking.event("pre-tool-use", "cli", identify(where.env), where, mode="dry")
    try:
        judges = judges_of(event)
    except PolicyError:
        return []  # which is told by itself
    boxes = [rule.box for judge in judges for rule in judge.program.rules if rule.box is not None]
    if not boxes:
        return []
    try:
        place.shell(":", boxes[0]["keys"], repo.root, "")
        version = engine.try_out()
        wrong = _tried(repo)
    except AhpError as error:
        refused = any(box["otherwise"] == "block" for box in boxes)
        what = "calls that have to run in a box are refused" if refused else "calls run without the box of the policy"
        return [Check("box", "wrong" if refused else "note", f"{what}: {error}")]
    if wrong:
        told = ", ".join(wrong)
        return [Check("box", "wrong", f"a box does not hold what it promises: {told}", "report it as a bug of ahp")]
    return [Check("box", "ok", f"{version}; tried: {', '.join(ROWS)}")]


def _tried(repo: Repository) -> list[str]:
    """The rows that do not hold. Raises AhpError where no box starts."""
    known = {"ROOT": repo.root, "GIT": repo.common_dir, "SOCKETS": "\n".join(table.sockets())}
    known["OUTSIDE"] = os.readlink("/proc/self/ns/pid")
    lines = [f"{name}={shlex.quote(value)}" for name, value in known.items()]
    lines += ["IFS='\n'", *[f"({probe}) > /dev/null || echo {shlex.quote(name)}" for name, probe in ROWS.items()]]
    env = {**environ.current(), _CANARY: "1"}
    done = place.run(["/bin/sh", "-c", "\n".join(lines)], cwd=repo.root, env=env, timeout=_TIMEOUT)
    if done.code:
        words = done.err.decode("utf-8", "replace").strip().splitlines()
        raise AhpError(words[-1] if words else f"exit code {done.code}")
    return done.out.decode().splitlines()
