"""Who waits for a hook is told what it works on, once it has taken two seconds.  [light]

A timer of the kernel and a handler: a quiet hook pays two system calls, and it does not matter whether the time goes by
in Python or in a program that is waited for.
"""

import posix

try:  # built in; `signal` itself imports enum and more
    from _signal import ITIMER_REAL, SIGALRM, getitimer, setitimer, siginterrupt, signal

    getitimer(ITIMER_REAL)
except (ImportError, AttributeError, TypeError):
    from signal import ITIMER_REAL, SIGALRM, setitimer, siginterrupt, signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

AFTER = 2.0  # seconds
VARIABLE = "AHP_PATIENCE"  # another time in whole seconds, 0 for never: it is a notice, and no part of the gate

doing = ""
"""What is worked on, in words for people. Whoever begins something that may take long says so."""
command = ""
"""The program that is waited for, "" when none is."""
_what, _after = "", AFTER


def begin(what: str, env: dict[str, str]) -> None:
    """From now on counts; `what` is what takes the time, such as a hook. Only the main thread may call this."""
    global _what, _after, doing
    given = env.get(VARIABLE, "")
    _what, doing = what, ""
    _after = float(given) if given.isdecimal() and len(given) < 6 else AFTER
    alarm(_after, _tell)
    siginterrupt(SIGALRM, False)


def end() -> None:
    """Nothing will be told any more: it is done, or a person is asked and may think."""
    alarm(0)


def alarm(seconds: float, then: "Callable[[int, Any], None] | None" = None) -> None:
    """Calls `then` in so many seconds, 0 for never. Only the main thread may call this."""
    if then is not None:
        signal(SIGALRM, then)
    setitimer(ITIMER_REAL, seconds)


def _tell(number: int, frame: object) -> None:
    at = f"{doing} ({command})" if doing and command else doing or command or "the policy"
    try:
        posix.write(2, f"ahp: {_what} is slow (over {_after:g} s), at: {at}\n".encode("utf-8", "replace"))
    except OSError:
        return  # nobody reads it
