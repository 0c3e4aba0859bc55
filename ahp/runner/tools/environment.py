"""The environment that tools and verifiers work in: marked as an agent's, free of what a running git hook left."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ahp.system import environ

AGENT = "ahp"  # the runner's own name among agents
MARKER = "AHP_AGENT"

_lock = threading.Lock()
_runs = 0
_former: str | None = None


def tool_environment(agent: str) -> dict[str, str]:
    """This process's environment for a program that a run of `agent` starts."""
    return {**environ.scrubbed(environ.current()), MARKER: agent}


@contextmanager
def marked(agent: str) -> Iterator[None]:
    """Marks this process as `agent`'s while a run goes on.

    A tool may start programs without handing on `ToolContext.env`; they inherit the marker all the same. What is
    marked cannot give a person's answer (`ahp respond ID proceed_with_risk`), and its commits are judged as an agent's.
    """
    global _runs, _former
    with _lock:
        if not _runs:
            _former = os.environ.get(MARKER)
        _runs += 1
        os.environ[MARKER] = agent
    try:
        yield
    finally:
        with _lock:
            _runs -= 1
            if not _runs and _former is None:
                os.environ.pop(MARKER, None)
            elif not _runs:
                os.environ[MARKER] = _former or ""
