"""The environment that tools and verifiers work in: marked as an agent's, free of what a running git hook left."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ahp.runner.models import apis
from ahp.system import environ
from ahp.system.descendants import MARK

AGENT = "ahp"  # the runner's own name among agents
MARKER = "AHP_AGENT"

_lock = threading.Lock()
_runs = 0
_former: dict[str, str | None] = {}


def tool_environment(agent: str) -> dict[str, str]:
    """This process's environment for a program that a run of `agent` starts, without the keys of its model."""
    env, keys = environ.scrubbed(environ.current()), apis.key_variables()
    return {**{name: value for name, value in env.items() if name not in keys}, MARKER: agent}


@contextmanager
def marked(agent: str, run: str = "") -> Iterator[None]:
    """Marks this process as `agent`'s while a run goes on; `run` is the mark of that run's processes.

    A tool may start programs without handing on `ToolContext.env`; they inherit the marks all the same. What is
    marked cannot give a person's answer (`ahp respond ID proceed_with_risk`), and its commits are judged as an agent's.
    """
    global _runs
    with _lock:
        if not _runs:
            _former.update({name: os.environ.get(name) for name in (MARKER, MARK)})
        _runs += 1
        os.environ.update({MARKER: agent, MARK: run})
    try:
        yield
    finally:
        with _lock:
            _runs -= 1
            for name, value in _former.items() if not _runs else ():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value
