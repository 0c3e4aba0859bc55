"""What an agent reads when its call could not be judged: what is broken, and who fixes it (design §9)."""

import sys
import traceback

from ahp.agents.clients import Unreadable
from ahp.protocol.text import AGENT_LIMIT, one_line, trim
from ahp.system.errors import AhpError, LostDependency, lost_dependency
from ahp.system.version import __version__


def text(event: str, error: Exception, refused: bool) -> str:
    """At most 600 characters; a bug in ahp is told with the place where it shows."""
    error = lost_dependency(error) or error
    if isinstance(error, AhpError):
        why = one_line(str(error).splitlines()[0] if str(error) else "unknown error", 300)
        do = _fix(error)
    else:
        last = traceback.extract_tb(error.__traceback__)[-1:]
        where = f" at {last[0].filename.rpartition('/ahp/')[2]}:{last[0].lineno}" if last else ""
        why = f"a bug in ahp {__version__} (Python {sys.version.split()[0]}): {type(error).__name__}{where}"
        why += f": {one_line(error, 150)}"
        do = "tell your user; `ahp doctor`, run by your user in a terminal, says what is wrong here"
    head = "ahp blocked this: it could not be judged" if refused else f"ahp could not judge this {event}; it went on"
    return trim(f"{head}\nWhy: {why}\nDo: {do}", AGENT_LIMIT)


def _fix(error: AhpError) -> str:
    if isinstance(error, LostDependency):
        return "tell your user, who fixes it"
    from ahp.policy.problems import PolicyError  # it needs PyYAML, which may be what is lost

    if isinstance(error, PolicyError):
        return "tell your user that the policy does not load; `ahp policy lint` names the line"
    if isinstance(error, Unreadable):
        return "make the call in another form; if it is refused again, tell your user: `ahp doctor` tests these hooks"
    return "tell your user; `ahp doctor`, run by your user in a terminal, says what is wrong here"
