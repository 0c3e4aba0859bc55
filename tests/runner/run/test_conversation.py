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
    conversation = Conversation("s", "head", "opening")
    conversation.add("user", "a")
    conversation.add("user", "b")
    assert conversation.messages[1:] == [{"role": "user", "content": "head\n\nopening\n\na\n\nb"}]


def test_what_is_tried_on_a_copy_changes_nothing() -> None:
    conversation = Conversation("s", "head", "x" * 5_000)
    assert conversation.copy().fit(300).cuts and len(conversation.messages[1]["content"]) > 5_000


def test_an_empty_reply_leaves_no_empty_message() -> None:
    conversation = Conversation("s", "a")
    conversation.add("assistant", "")
    conversation.add("user", "b")
    check_roles(conversation.messages)


def test_what_is_no_character_is_written_as_utf_8_can_hold_it() -> None:
    name = b"caf\xe9".decode("utf-8", "surrogateescape")
    conversation = Conversation("s", f"look at {name}", name)
    conversation.add("assistant", name)
    conversation.add("user", f"{name} and \ud800")
    assert [message["content"] for message in conversation.messages] == [
        "s",
        "look at caf\\xe9\n\ncaf\\xe9",
        "caf\\xe9",
        "caf? and ?",
    ]
    assert conversation.fit(1).cuts == ()


def test_trimming_drops_oldest_pairs_and_keeps_system_task_and_last_exchange() -> None:
    conversation = Conversation("system", "user 0 " + "x" * 300)
    conversation.add("assistant", "answer 0 " + "y" * 300)
    for i in range(1, 4):
        conversation.add("user", f"user {i} " + "x" * 300)
        conversation.add("assistant", f"answer {i} " + "y" * 300)
    conversation.add("user", "last")
    before = estimate(conversation.messages)
    assert conversation.fit(None) == (0, ())
    assert conversation.fit(before) == (0, ())
    assert conversation.fit(before - 1) == (1, ())
    check_roles(conversation.messages)
    assert [m["content"].split(" x")[0].split(" y")[0] for m in conversation.messages] == [
        *("system", "user 0", "answer 1", "user 2", "answer 2", "user 3", "answer 3", "last")
    ]
    assert conversation.fit(0) == (2, ())
    assert [m["content"][:8] for m in conversation.messages] == ["system", "user 0 x", "answer 3", "last"]
    check_roles(conversation.messages)
    assert not conversation.drop_oldest()


def test_a_stored_conversation_is_taken_up_in_order() -> None:
    resumed = Conversation("system", "head")
    for message in messages("user", "assistant", "assistant", "user"):
        resumed.add(message["role"], message["content"])
    resumed.add("user", "go on")
    check_roles(resumed.messages)
    assert [m["role"] for m in resumed.messages] == ["system", "user", "assistant", "user"]


@pytest.mark.parametrize("text", ["x" * 9_000, "天" * 9_000, "\ud800" * 9_000], ids=["ascii", "chinese", "lone"])
def test_a_last_turn_that_does_not_fit_is_cut_in_its_middle(text: str) -> None:
    conversation = Conversation("s", "head")
    conversation.add("assistant", "call")
    conversation.add("user", f"begin {text} end")
    pairs, cuts = conversation.fit(1_000)
    assert (pairs, len(cuts)) == (0, 1)
    assert 900 < estimate(conversation.messages) <= 1_000
    last = conversation.messages[-1]["content"]
    assert (last[:6], last[-4:]) == ("begin ", " end")
    # A resumed run cuts the same from what its events say.
    again = Conversation("s", "head")
    again.add("assistant", "call")
    again.add("user", f"begin {text} end")
    again.cut(cuts[0])
    assert again.messages == conversation.messages


def test_the_head_is_never_cut() -> None:
    head = "x" * 9_000
    conversation = Conversation("s", head, "y" * 9_000)
    while conversation.shorten().cuts:
        pass
    assert conversation.messages[1]["content"].startswith(head)
    assert len(conversation.messages[1]["content"]) < 9_000 + 1_200
    assert conversation.fit(0) == (0, ())


@given(st.lists(st.sampled_from(["say", "ask", "fit", "drop", "shorten", "resume"]), max_size=30))
def test_roles_alternate_whatever_happens(moves: list[str]) -> None:
    conversation = Conversation("s", "task")
    for move in moves:
        if move == "say":
            conversation.add("user", "x")
        elif move == "ask":
            conversation.add("user", "next")
            check_roles(conversation.messages)
            conversation.add("assistant", "y")
        elif move == "fit":
            conversation.fit(20)
        elif move == "drop":
            conversation.drop_oldest()
        elif move == "shorten":
            conversation.shorten()
        else:
            stored, conversation = conversation.messages, Conversation("s", conversation.messages[1]["content"])
            for message in stored[2:]:
                conversation.add(message["role"], message["content"])
    conversation.add("user", "last")
    check_roles(conversation.messages)
    assert conversation.messages[1]["content"].startswith("task")


def test_the_estimate_counts_a_chinese_character_as_one() -> None:
    assert estimate([{"role": "user", "content": "天气" * 30}]) == 64


def test_what_is_longest_is_cut_first() -> None:
    conversation = Conversation("s", "head", "known " + "x" * 9_000)
    conversation.add("assistant", "call")
    conversation.add("user", "result " + "y" * 4_000)
    cuts = conversation.fit(800)[1]
    assert estimate(conversation.messages) <= 800
    assert len(cuts) == 2
    first, last = conversation.messages[1]["content"], conversation.messages[3]["content"]
    assert first.startswith("head\n\nknown x")
    assert last.startswith("result y")
    assert 400 <= len(first) <= 2_000
    assert 400 <= len(last) <= 2_000
