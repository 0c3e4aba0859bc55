"""What the runner needs of a language model."""

from dataclasses import dataclass
from typing import Protocol

from ahp.runner.run.conversation import Message
from ahp.system.errors import AhpError


class ModelError(AhpError):
    """The model gave no answer; the run ends with MODEL_ERROR."""


class ContextOverflow(ModelError):
    """The messages are longer than the model can read; the runner drops the oldest and asks again."""


@dataclass(frozen=True)
class Answer:
    """One reply. Tokens read and written (None: not reported, the runner estimates) and its price in US dollars."""

    text: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    usd: float = 0.0


class Model(Protocol):
    """A language model."""

    @property
    def name(self) -> str:
        """How events call it."""
        ...

    def query(self, messages: list[Message], *, max_tokens: int, timeout_s: float) -> Answer:
        """The reply to `messages`: system first, then user and assistant in turn, a user last.

        At most `max_tokens` tokens within `timeout_s` seconds. Raises ContextOverflow, ModelError.
        """
        ...
