"""The messages of one scene, in the strict alternation that llama.cpp's chat templates demand (seed 004 §3.1)."""

import copy
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, NotRequired, TypedDict

from ahp.protocol.text import excerpt


class Message(TypedDict):
    """One message: `role` is system, user or assistant, `content` the whole of it as text.

    A reply with calls may have its interface's `own` form: `{"api", "ids", "reply"}`. The user's turn behind it has the
    `results` of these calls, (id, text) each, and what else was said, the `rest`.
    """

    role: str
    content: str
    own: NotRequired[dict[str, Any]]
    results: NotRequired[list[tuple[str, str]]]
    rest: NotRequired[str]


class RoleOrder(ValueError):
    """Messages that do not go system, user, assistant, user, …, user."""


class Trimmed(NamedTuple):
    """What was taken from a conversation: `pairs` of messages, and to how many characters its longest part was cut."""

    pairs: int = 0
    cuts: tuple[int, ...] = ()


_PINNED = 2  # the system prompt and the message that begins with the head
_EMPTY = "(empty reply)"
_LEAST = 400  # characters: what a turn is cut to at least, so that its frame and what it is about stay readable


def check_roles(messages: list[Message]) -> None:
    """Raises RoleOrder unless the messages go system, user, assistant, user, …, user, none of them empty."""
    expected = ["system"] + ["user" if i % 2 == 0 else "assistant" for i in range(len(messages) - 1)]
    roles = [message["role"] for message in messages]
    if len(messages) < _PINNED or roles != expected or roles[-1] != "user":
        raise RoleOrder(f"roles out of order: {', '.join(roles)}")
    if not all(message["content"].strip() for message in messages):
        raise RoleOrder("a message is empty")


def estimate(messages: list[Message]) -> int:
    """About how many tokens messages have: a third of their UTF-8 bytes (one Chinese character is one), 4 a message."""
    return sum(len(message["content"].encode("utf-8", "replace")) // 3 + 4 for message in messages)


def native(messages: list[Message], api: str) -> set[int]:
    """Which messages the interface `api` can have in its own form: replies whose calls all have their result."""
    found: set[int] = set()
    for at, (reply, turn) in enumerate(pairwise(messages)):
        own, ids = reply.get("own", {}), [name for name, _ in turn.get("results", ())]
        if own.get("api") == api and ids and own["ids"] == ids and len({*ids, ""}) > len(ids):
            found |= {at, at + 1}
    return found


def encodable(text: str) -> str:
    """`text` as UTF-8 can hold it: bytes of a file's name or an argument that are none are written as `\\xe9`."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # halves of characters that stand for no byte
        return text.encode("utf-8", "replace").decode()


class Conversation:
    """A scene's messages: system prompt and `head` (the task, what the scene is about) are pinned, exchanges follow.

    The roles alternate whatever is said, trimmed or taken up again.
    """

    def __init__(self, system: str, head: str, opening: str = "") -> None:
        self._head = head = encodable(head)
        first = f"{head}\n\n{encodable(opening)}" if opening else head
        self.messages: list[Message] = [{"role": "system", "content": system}, {"role": "user", "content": first}]

    def instruct(self, system: str) -> None:
        """Puts another system prompt in the place of the former one."""
        self.messages[0]["content"] = system

    def add(
        self,
        role: str,
        text: str,
        own: dict[str, Any] | None = None,
        results: Sequence[tuple[str, str]] = (),
        rest: str = "",
    ) -> None:
        """Adds to the turn of user or assistant: two things said in a row are one message."""
        # Some templates refuse empty messages, and a model may reply with nothing.
        shown = encodable(text) if text.strip() else _EMPTY
        last = self.messages[-1]
        if last["role"] == role:
            last["content"] = f"{last['content']}\n\n{shown}"
            self._as_text(last)
            return
        message: Message = {"role": role, "content": shown}
        if own:
            message["own"] = own
        if results and "own" in last:
            message["results"], message["rest"] = [(name, encodable(one)) for name, one in results], encodable(rest)
        self.messages.append(message)

    def _as_text(self, message: Message) -> None:
        """Leaves a message that was changed as text alone."""
        for name in ("own", "results", "rest"):
            message.pop(name, None)  # type: ignore[misc]

    def copy(self) -> "Conversation":
        """One that may be trimmed to see what that takes."""
        return copy.deepcopy(self)

    def fit(self, tokens: int | None) -> Trimmed:
        """Makes the estimate at most `tokens` (None: no limit), as far as that can be.

        The oldest exchanges go first, then what is longest is cut: the last turn, which holds what a tool gave back,
        or what the scene opened with.
        """
        pairs, cuts = 0, list[int]()
        while tokens is not None and estimate(self.messages) > tokens and self.drop_oldest():
            pairs += 1
        while tokens is not None and (over := estimate(self.messages) - tokens) > 0:
            text = self._part(self._longest())
            size = len(text.encode("utf-8", "replace")) or 1
            chars = self.cut(len(text) * max(size - 3 * (over + 30), 0) // size)
            if chars is None:
                break
            cuts.append(chars)
        return Trimmed(pairs, tuple(cuts))

    def drop_oldest(self) -> bool:
        """Drops the oldest reply with the user's turn behind it; what is pinned and the last exchange stay.

        False when there is none left to drop.
        """
        if len(self.messages) < _PINNED + 3:
            return False
        del self.messages[_PINNED : _PINNED + 2]
        return True

    def shorten(self) -> Trimmed:
        """Takes a little away: the oldest exchange, else half of what is longest, else nothing."""
        if self.drop_oldest():
            return Trimmed(1)
        chars = self.cut(len(self._part(self._longest())) // 2)
        return Trimmed() if chars is None else Trimmed(0, (chars,))

    def cut(self, chars: int) -> int | None:
        """Cuts what is longest to about `chars` characters and returns them; None when it is as short as may be."""
        at = self._longest()
        text = self._part(at)
        chars = max(chars, _LEAST)
        if len(text) <= chars + 100:  # what is cut has to be more than the words that say so
            return None
        kept = self.messages[at]["content"][: len(self.messages[at]["content"]) - len(text)]
        self.messages[at]["content"] = kept + excerpt(text, chars)
        self._as_text(self.messages[at])
        return chars

    def _longest(self) -> int:
        """Which message is to be cut: the last turn, or the first with what the scene opened with."""
        last = len(self.messages) - 1
        return max((last, 1), key=lambda at: len(self._part(at)))

    def _part(self, at: int) -> str:
        """What may be cut of a message: all of a user's turn but for the head."""
        message = self.messages[at]
        return message["content"][len(self._head) if at == 1 else 0 :] if message["role"] == "user" else ""
