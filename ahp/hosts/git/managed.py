"""Hooks that a hook manager runs as commands, in a clone where ahp itself is not installed (.pre-commit-hooks.yaml).

lefthook hands git's arguments and standard input through. pre-commit and prek read the lines of a push themselves, and
tell the first ref of it in variables (pre-commit.com, "pre-push").
"""

from __future__ import annotations

import os

from ahp.hosts.asking import user_policy
from ahp.hosts.git.githooks import HOOKS
from ahp.system import environ
from ahp.system.errors import AhpError

_ZEROS = "0" * 40


def as_installed(hook: str, arguments: tuple[str, ...]) -> tuple[str, ...]:
    """The arguments that an installed shim would give; standard input is what git would give, or nothing.

    Raises AhpError for a push of which nothing is told.
    """
    env = environ.current()
    to = env.get("PRE_COMMIT_TO_REF", "")
    if HOOKS[hook].gives == "refs" and to:
        source = env.get("PRE_COMMIT_LOCAL_BRANCH", "") or "HEAD"
        target = env.get("PRE_COMMIT_REMOTE_BRANCH", "") or source
        _give(f"{source} {to} {target} {env.get('PRE_COMMIT_FROM_REF', '') or _ZEROS}\n")
        arguments = arguments or (env.get("PRE_COMMIT_REMOTE_NAME", ""),)
    elif HOOKS[hook].gives != "refs":
        _give("")  # what is staged is asked of git
    elif os.isatty(0):
        raise AhpError(
            "what is pushed stands on git's standard input, which this hook was not given (lefthook: use_stdin)"
        )
    return (hook, str(os.getppid()), "", user_policy(), "git", *arguments)


def _give(text: str) -> None:
    """Makes `text`, a line at most, the standard input of this process."""
    reading, writing = os.pipe()
    os.write(writing, os.fsencode(text))
    os.close(writing)
    os.dup2(reading, 0)
    os.close(reading)
