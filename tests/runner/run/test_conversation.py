"""ahp.runner.run.conversation"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.runner.run.conversation import Conversation, Message, RoleOrder, check_roles, estimate


def messages(*roles: str) -> list[Message]:
    return [{"role": role, "content": f"{role} {i}"} for i, role in enumerate(roles)]


@pytest.mark.parametrize(
    "roles",
    [
        (),
        ("system",),
        ("user",),
        ("system", "assistant"),
        ("system", "user", "user"),
        ("system", "user", "assistant"),
        ("user", "assistant", "user"),
        ("system", "user", "assistant", "assistant", "user"),
    ],
)
def test_any_other_order_is_refused(roles: tuple[str, ...]) -> None:
    with pytest.raises(RoleOrder):
        check_roles(messages(*roles))


def test_an_empty_message_is_refused() -> None:
    with pytest.raises(RoleOrder, match="empty"):
        check_roles([{"role": "system", "content": "s"}, {"role": "user", "content": " "}])


def test_two_things_said_in_a_row_are_one_message() -> None:
    told: list[tuple[str, str]] = []
    conversation = Conversation("s", lambda *said: told.append(said))
    conversation.say("a")
    conversation.say("b")
    assert conversation.messages[1:] == [{"role": "user", "content": "a\n\nb"}]
    assert told == [("system", "s"), ("user", "a"), ("user", "b")]


def test_a_model_that_was_not_asked_does_not_answer() -> None:
    conversation = Conversation("s")
    with pytest.raises(RoleOrder, match="not asked"):
        conversation.answer("x")


def test_an_empty_reply_leaves_no_empty_message() -> None:
    conversation = Conversation("s")
    conversation.say("a")
    conversation.answer("")
    conversation.say("b")
    check_roles(conversation.messages)


def test_trimming_drops_oldest_pairs_and_keeps_system_task_and_last_exchange() -> None:
    conversation = Conversation("system")
    for i in range(4):
        conversation.say(f"user {i} " + "x" * 300)
        conversation.answer(f"answer {i} " + "y" * 300)
    conversation.say("last")
    before = estimate(conversation.messages)
    assert conversation.fit(None) == 0
    assert conversation.fit(before) == 0
    assert conversation.fit(before - 1) == 1
    check_roles(conversation.messages)
    assert [m["content"].split(" x")[0].split(" y")[0] for m in conversation.messages] == [
        *("system", "user 0", "answer 1", "user 2", "answer 2", "user 3", "answer 3", "last")
    ]
    assert conversation.fit(0) == 2
    assert [m["content"][:8] for m in conversation.messages] == ["system", "user 0 x", "answer 3", "last"]
    check_roles(conversation.messages)
    assert not conversation.drop_oldest()


def test_a_stored_conversation_is_taken_up_in_order() -> None:
    stored = messages("system", "assistant", "user", "user", "assistant", "assistant", "tool", "user")
    resumed = Conversation.resumed(stored)
    resumed.say("go on")
    check_roles(resumed.messages)
    assert [m["role"] for m in resumed.messages] == ["system", "user", "assistant", "user"]
    with pytest.raises(RoleOrder):
        Conversation.resumed(messages("user"))


@given(st.lists(st.sampled_from(["say", "ask", "fit", "drop", "resume"]), max_size=30))
def test_roles_alternate_whatever_happens(moves: list[str]) -> None:
    conversation = Conversation("s")
    conversation.say("task")
    for move in moves:
        if move == "say":
            conversation.say("x")
        elif move == "ask":
            conversation.say("next")
            check_roles(conversation.messages)
            conversation.answer("y")
        elif move == "fit":
            conversation.fit(20)
        elif move == "drop":
            conversation.drop_oldest()
        else:
            conversation = Conversation.resumed(conversation.messages)
    conversation.say("last")
    check_roles(conversation.messages)
    assert conversation.messages[1]["content"].startswith("task")


def test_the_estimate_counts_a_chinese_character_as_one() -> None:
    assert estimate([{"role": "user", "content": "天气" * 30}]) == 64
