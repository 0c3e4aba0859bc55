"""Commands at a terminal, with somebody who answers what they ask."""

from __future__ import annotations

import os
import pty
import select
from collections.abc import Mapping, Sequence
from pathlib import Path

_PATIENCE = 600.0  # s without a word; only a failure takes so long


def attended(
    argv: Sequence[str], at: Path, env: Mapping[str, str] | None = None, answer: bytes = b"y\n"
) -> tuple[int, str]:
    """How `argv` ended and all that it showed on a terminal of its own, where each question gets `answer`."""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(at)
        os.execvpe(argv[0], list(argv), {**os.environ, **(env or {})})
    seen, asked = b"", 0
    try:
        while select.select([fd], [], [], _PATIENCE)[0] and (part := os.read(fd, 4096)):
            seen += part
            if seen.count(b"[y/N] ") > asked:
                asked += 1
                os.write(fd, answer)
    except OSError:  # the other end was closed
        pass
    os.close(fd)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), os.fsdecode(seen).replace("\r\n", "\n")
