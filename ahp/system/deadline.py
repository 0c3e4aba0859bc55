"""A time limit for code that does not keep one itself."""

import threading
from collections.abc import Callable
from typing import TypeVar

from ahp.system.errors import Timeout

T = TypeVar("T")

# What keeps a limit of its own (a process that is killed, a socket) gets to say so itself.
_GRACE = 0.25


def within(seconds: float, function: Callable[[], T], what: str) -> T:
    """What `function` returns or raises. Raises Timeout when it takes over `seconds`, at once when they are 0.

    Python cannot end a thread: one that hangs is left behind, and what it may still return is thrown away.
    """
    if seconds <= 0:
        raise Timeout(f"{what} was given no time")
    returned: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            returned.append(function())
        except BaseException as error:  # noqa: BLE001  # it is raised again below, in the caller's thread
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds + _GRACE)
    if raised:
        raise raised[0]
    if not returned:
        raise Timeout(f"{what} did not finish within {seconds:g} s")
    return returned[0]
