"""Circuit breakers (seed 003 §4, seed 004 §3.2): how often, how long, how much, and what happens then."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ahp.runner.config import AgentConfig
from ahp.system import clock, digest, jsontext

if TYPE_CHECKING:
    from ahp.runner.run.run_state import RunState

_SHORT = 3_000  # tokens that every model reads


def key(*what: Any) -> str:
    """The digest under which is counted how often `what`, any JSON values, happened in a run."""
    return digest.sha256(jsontext.encode(what).encode())


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


class Budget:
    """What a run may use: tokens, US dollars, seconds; None is no limit, 0 allows nothing. `used` tells what it has."""

    def __init__(self, config: AgentConfig, used: "RunState") -> None:
        self._config, self._used = config, used
        self._started = clock.monotonic() - used.seconds

    def seconds_left(self) -> float | None:
        """Seconds until the wall time is over, at least 0; None without limit."""
        seconds = self._config.budget_seconds
        return None if seconds is None else max(0.0, seconds - (clock.monotonic() - self._started))

    def exhausted(self) -> str | None:
        """The stop reason of the first budget that is used up, or None."""
        tokens, usd = self._config.budget_tokens, self._config.budget_usd
        if tokens is not None and self._used.tokens >= tokens:
            return "BUDGET_TOKENS"
        if usd is not None and self._used.usd >= usd:
            return "BUDGET_USD"
        return "BUDGET_TIME" if self.seconds_left() == 0.0 else None
