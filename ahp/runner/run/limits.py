"""Circuit breakers (seed 003 §4, seed 004 §3.2): how often, how long, how much, and what happens then."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ahp.system import clock, digest, jsontext


class Breaker:
    """Lets `limit` attempts through and no more; 0 lets none through."""

    def __init__(self, limit: int, spent: int = 0) -> None:
        self.limit = limit
        self.spent = spent

    def spend(self) -> bool:
        """Takes one attempt; False when they are used up."""
        if self.spent >= self.limit:
            return False
        self.spent += 1
        return True


_SHORT = 3_000  # tokens that every model reads

# Steps that run beside each other count in the same places.
_counting = threading.Lock()


@dataclass
class Repeats:
    """How often the same thing happened in a run: a call with one result, a block with one reason."""

    counts: dict[str, int] = field(default_factory=dict)

    def count(self, *what: Any) -> int:
        """Counts `what`, any JSON values, and returns how often it was seen, this time included."""
        return self.add(self.key(*what))

    def add(self, key: str) -> int:
        """Counts what has the key `key`, as `count` does."""
        with _counting:
            self.counts[key] = self.counts.get(key, 0) + 1
            return self.counts[key]

    def key(self, *what: Any) -> str:
        """The digest under which `what` is counted."""
        return digest.sha256(jsontext.encode(what).encode())

    def forget(self, *what: Any) -> None:
        """Begins to count `what` anew."""
        self.counts.pop(self.key(*what), None)

    def seen(self, *what: Any) -> bool:
        """Whether `what` was counted before."""
        return self.key(*what) in self.counts


class Room:
    """How long the messages of a request may be, in estimated tokens: as set, and a tenth less than what was refused.

    Without a limit `window` is asked for one, once, when messages get long: most runs never need to know.
    """

    def __init__(self, limit: int | None, window: Callable[[], int | None] = lambda: None) -> None:
        self.limit = limit
        self._window: Callable[[], int | None] | None = window
        self._shown: int | None = None

    def needs(self, tokens: int) -> int | None:
        """What to send at most of messages of that length; None without any limit."""
        if self.limit is None and self._window is not None and tokens > _SHORT:
            window, self._window = self._window, None
            self.limit = window()
        return min((limit for limit in (self.limit, self._shown) if limit is not None), default=None)

    def refused(self, tokens: int) -> None:
        """A request of that length was too long: not every one is to be refused before it is shortened."""
        self._shown = min(tokens * 9 // 10, self._shown or tokens)


class Usage:
    """What a run uses, whichever of its conversations asks: its budget, the requests made, how long they may be.

    `iterations` are the requests of places that are taken up again.
    """

    def __init__(self, budget: "Budget", room: Room) -> None:
        self.budget = budget
        self.room = room
        self.requests = 0
        self.iterations: dict[str, int] = {}

    def request(self) -> None:
        """Counts one request to the model."""
        with _counting:
            self.requests += 1


@dataclass
class Budget:
    """What a run may use and has used: tokens, US dollars, seconds; None is no limit, 0 allows nothing."""

    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None
    tokens_used: int = 0
    usd_used: float = 0.0
    started: float = field(default_factory=clock.monotonic)

    def add(self, tokens: int, usd: float) -> None:
        """Counts one answer of the model."""
        with _counting:
            self.tokens_used += tokens
            self.usd_used += usd

    def seconds_left(self) -> float | None:
        """Seconds until the wall time is over, at least 0; None without limit."""
        return None if self.seconds is None else max(0.0, self.seconds - (clock.monotonic() - self.started))

    def exhausted(self) -> str | None:
        """The stop reason of the first budget that is used up, or None."""
        if self.tokens is not None and self.tokens_used >= self.tokens:
            return "BUDGET_TOKENS"
        if self.usd is not None and self.usd_used >= self.usd:
            return "BUDGET_USD"
        return "BUDGET_TIME" if self.seconds_left() == 0.0 else None
