"""What the tests of faults let a process do to a journal while they stop it or have its calls fail.

`python -m tests.journal.work FOLDER` prints the id of each signal once its append has returned.
"""

from __future__ import annotations

import contextlib
import os
import sys
import uuid

from ahp.journal import counts
from ahp.journal.append import Journal
from ahp.journal.state import State
from ahp.system.errors import AhpError

ROUNDS = 4
ROTATE_AT = 3000


def signal(rule: str, intensity: str = "prompt", **more: object) -> dict[str, object]:
    """A signal of a new id."""
    decision = {"block": "deny", "aid": "suggest"}.get(intensity, "warn")
    known = {"rule": rule, "subject": "main", "actor": "agent:claude", "host": "git", "decision": decision}
    told = {"hook": "pre-commit", "intensity": intensity, "source": rule, "consumed": False, "action": None}
    attempt = {"attempt": f"git:{rule}", "change": "change1:c", "evidence": "sha256:e", "paths": ["a"]}
    return {**told, "kind": "signal", "id": str(uuid.uuid4()), **known, **attempt, **more}


def run(folder: str, told: int) -> None:
    """Signals, ends, counts and answers over a rotation; a step that is refused is left out.

    Writes the id of a signal to the descriptor `told` once its append has returned. Anything but an AhpError is a bug.
    """
    journal = Journal(folder, rotate_at=ROTATE_AT)
    for nth in range(ROUNDS):
        record = signal(f"rule-{nth % 2}", ("prompt", "block", "aid", "prompt")[nth])
        try:
            journal.append([record, {**record, "kind": "verdict"}], durable=nth % 2 == 1)
        except AhpError:
            pass
        else:
            os.write(told, f"{record['id']}\n".encode())
        try:
            journal.count("pre-tool-use", "agent", "s1")
            with State.open(journal) as state:
                state.settle()
            counts.fold(journal)
            journal.append([{**signal("rule-0"), "kind": "episode-end", "reason": "mended"}])
        except AhpError:
            continue
    with contextlib.suppress(AhpError):
        journal.close()


if __name__ == "__main__":
    run(sys.argv[1], 1)
