"""ahp.runner.run.session: what a reply is, its calls beside the text, and which replies are none."""

from __future__ import annotations

import pytest

from ahp.runner.models.model import Answer, NativeCall
from ahp.runner.run.session import fault_of, with_calls
from tests.runner.runs import Scene

ROUND: dict[str, object] = {}
ROUND["round"] = ROUND
LOOK = NativeCall("look", {"path": "a"})
COPY = '{"name": "look", "arguments": {"path": "a"}}'


@pytest.mark.parametrize(
    "text",
    [
        *("", "  \n", "I look", "<think>and never end", "<think>so</think>I look.", "See:\n```py\nprint(1)"),
        *(COPY, f"<tool_call>\n{COPY}\n</tool_call>", f"I look.\n```json\n{COPY}\n```", f"[{COPY}]"),
        '{"tool": "look", "args": {"path": "b"}}',
    ],
)
@pytest.mark.parametrize("args", [{"path": "a"}, '{"path": "a"}'])
def test_a_call_beside_the_text_is_what_the_reply_does(text: str, args: dict[str, str] | str) -> None:
    call = NativeCall("look", args, "1")
    scene = Scene([Answer(text, "tool_calls", (call, call)), "done"])
    assert [event["args"] for event in scene.of("tool_call")] == [{"path": "a"}]
    assert scene.turn.answer == "done"


def test_arguments_that_are_no_object_are_told_the_model() -> None:
    scene = Scene([Answer("", calls=(NativeCall("look", '{"path": "a'),)), "done"])
    assert "arguments of look" in scene.of("malformed_reply")[0]["problem"]


def test_a_call_stands_in_the_conversation_as_text() -> None:
    assert with_calls("I look.", (LOOK,)) == 'I look.\n\n{"tool": "look", "args": {"path": "a"}}'
    assert with_calls("yes", ()) == "yes"


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer("a"), None),
        (Answer("", "tool_calls", (LOOK,), 1, 2, 0.5), None),
        ("a", "no Answer"),
        (Answer(None), "a fault: text: "),  # type: ignore[arg-type]
        (Answer("", calls=LOOK), "cannot be read"),  # type: ignore[arg-type]
        (Answer("", calls=({"tool": "look"},)), "cannot be read"),  # type: ignore[arg-type]
        (Answer("", calls=(NativeCall("look", None),)), "a fault: calls.0.args"),  # type: ignore[arg-type]
        (Answer("", calls=(NativeCall("look", ROUND),)), "cannot be read"),
        (Answer("", "end_turn"), "finish_reason: Input should be 'stop'"),  # type: ignore[arg-type]
        (Answer("", usd=float("inf")), "usd: "),
        (Answer("", input_tokens="7"), "input_tokens: "),  # type: ignore[arg-type]
        (Answer("", usd=None), None),
    ],
)
def test_what_a_model_returned_is_checked(answer: object, fault: str | None) -> None:
    found = fault_of(answer)
    assert found is None if fault is None else fault in str(found)
