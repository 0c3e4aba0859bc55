"""The messages of a run, in the strict alternation that llama.cpp's chat templates demand (seed 004 §3.1)."""

from collections.abc import Callable
from typing import TypedDict


class Message(TypedDict):
    """One message: `role` is system, user or assistant."""

    role: str
    content: str


class RoleOrder(ValueError):
    """Messages that do not go system, user, assistant, user, …, user."""


_FIXED = 2  # system prompt and task: never trimmed
_EMPTY = "(empty reply)"


def check_roles(messages: list[Message]) -> None:
    """Raises RoleOrder unless the messages go system, user, assistant, user, …, user, none of them empty."""
    expected = ["system"] + ["user" if i % 2 == 0 else "assistant" for i in range(len(messages) - 1)]
    roles = [message["role"] for message in messages]
    if len(messages) < _FIXED or roles != expected or roles[-1] != "user":
        raise RoleOrder(f"roles out of order: {', '.join(roles)}")
    if not all(message["content"].strip() for message in messages):
        raise RoleOrder("a message is empty")


def estimate(messages: list[Message]) -> int:
    """About how many tokens messages have: a third of their UTF-8 bytes (one Chinese character is one), 4 a message."""
    return sum(len(message["content"].encode("utf-8", "replace")) // 3 + 4 for message in messages)


class Conversation:
    """The messages so far. The roles alternate whatever is said, trimmed or taken up again."""

    def __init__(self, system: str, told: Callable[[str, str], object] = lambda role, content: None) -> None:
        self.messages: list[Message] = []
        self._told = told
        self._add("system", system)

    @classmethod
    def resumed(
        cls, messages: list[Message], told: Callable[[str, str], object] = lambda role, content: None
    ) -> "Conversation":
        """A conversation that goes on from stored messages; neighbours of one role become one message.

        `told` hears only of what is new. Raises RoleOrder when they do not begin with the system prompt.
        """
        if not messages or messages[0]["role"] != "system":
            raise RoleOrder("a conversation begins with its system prompt")
        conversation = cls(messages[0]["content"])
        for message in messages[1:]:
            if message["role"] == "assistant" and len(conversation.messages) > 1:
                conversation._join("assistant", message["content"])
            elif message["role"] == "user":
                conversation._join("user", message["content"])
        conversation._told = told
        return conversation

    def instruct(self, system: str) -> None:
        """Puts another system prompt in the place of the former one, unless it is the same."""
        if self.messages[0]["content"] != system:
            self.messages[0] = {"role": "system", "content": system}
            self._told("system", system)

    def say(self, text: str) -> None:
        """Adds to the user's turn: two things said in a row are one message."""
        self._join("user", text)

    def answer(self, text: str) -> None:
        """Adds the model's reply. Raises RoleOrder when it was not asked."""
        if self.messages[-1]["role"] != "user":
            raise RoleOrder("the model was not asked")
        self._add("assistant", text)

    def fit(self, tokens: int | None) -> int:
        """Drops oldest pairs until the estimate is at most `tokens` (None: no limit); returns how many pairs went."""
        dropped = 0
        while tokens is not None and estimate(self.messages) > tokens and self.drop_oldest():
            dropped += 1
        return dropped

    def drop_oldest(self) -> bool:
        """Drops the oldest assistant message with the user's turn behind it; system prompt, task and the last one stay.

        False when there is none left to drop.
        """
        if len(self.messages) < _FIXED + 3:
            return False
        del self.messages[_FIXED : _FIXED + 2]
        return True

    def _join(self, role: str, text: str) -> None:
        last = self.messages[-1]
        if last["role"] != role:
            self._add(role, text)
            return
        last["content"] = f"{last['content']}\n\n{text}"
        self._told(role, text)

    def _add(self, role: str, text: str) -> None:
        # Some templates refuse empty messages, and a model may reply with nothing.
        self.messages.append({"role": role, "content": text if text.strip() else _EMPTY})
        self._told(role, text)
