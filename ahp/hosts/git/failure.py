"""When a hook cannot judge: what is wrong and the way out, never a silent pass (design §4, §9)."""

import errno
import os
import sys
import traceback

from ahp.hosts.verdict_text import write
from ahp.protocol.event import Actor
from ahp.protocol.text import one_line
from ahp.protocol.triggers import TRIGGERS
from ahp.system.errors import AhpError, LostDependency, lost_dependency
from ahp.system.version import __version__

_LINES = 20


def refuse(hook: str, error: AhpError, actor: Actor) -> int:
    """Says what the user can mend; exit code 2, or 0 after the fact, where nothing is left to refuse."""
    lines = str(error).splitlines() or ["unknown error"]
    shown = [one_line(line, 1000) for line in lines[:_LINES]]
    if len(lines) > _LINES:
        shown.append(f"and {len(lines) - _LINES} more lines: ahp policy lint")
    write("\n".join([f"ahp: cannot judge this {hook}: {shown[0]}", *shown[1:], *_mend(error), *_way_out(hook, actor)]))
    return 0 if TRIGGERS[hook].post else 2


def report(hook: str, error: BaseException, actor: Actor) -> int:
    """Says that ahp has a bug, with what a maintainer needs, or what it lacks; exit code as for `refuse`."""
    if lost := lost_dependency(error):
        return refuse(hook, lost, actor)
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return refuse(hook, AhpError("too many files are open; fix: raise the limit (ulimit -n)"), actor)
    trace = "".join(traceback.format_exception(error)[-12:]).rstrip()
    version = f"ahp {__version__}, Python {sys.version.split()[0]}"
    write(f"ahp: a bug in ahp stopped it from judging this {hook}; please report this:\n{version}\n{trace}")
    write("\n".join(_way_out(hook, actor)))
    return 0 if TRIGGERS[hook].post else 2


def _mend(error: AhpError) -> list[str]:
    if isinstance(error, LostDependency):
        return []
    from ahp.policy.problems import PolicyError

    if isinstance(error, PolicyError):
        return ["     correct it there; `ahp policy lint` tells when it is right"]
    return [] if "fix: " in str(error) else ["     `ahp doctor` tells what is wrong here and what to do"]


def _way_out(hook: str, actor: Actor) -> list[str]:
    """git's own switch, named to a person at a terminal, never to an agent (design §4)."""
    if TRIGGERS[hook].post or actor.kind != "human" or not os.isatty(2):
        return []
    return [f"     until it is fixed a person may go on with `git {TRIGGERS[hook].act} --no-verify`"]
