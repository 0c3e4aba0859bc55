"""A log that a test makes, record by record, with the ids and the chain that the gate gives it."""

from __future__ import annotations

import json
import random
import uuid
from typing import Any

from ahp.system import clock, digest


class MadeLog:
    """Its `lines` so far; `now` in seconds is when the next record is written. The same seed makes the same log."""

    def __init__(self, seed: int, begin: float) -> None:
        self.chance = random.Random(seed)
        self.now, self.n, self.last = begin, 0, ""
        self.lines: list[str] = []
        self.write("genesis", id=self.id(), format=1, ahp="0.3.0")

    def write(self, kind: str, **more: Any) -> None:
        self.n += 1
        record = {"timestamp": clock.iso(self.now), "kind": kind, **more, "n": self.n, "prev": self.last or None}
        self.lines.append(json.dumps(record))
        self.last = digest.tagged(self.lines[-1].encode())

    def id(self) -> str:
        return str(uuid.UUID(int=self.chance.getrandbits(128), version=4))
