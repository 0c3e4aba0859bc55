"""ahp.runner.words.replies and ahp.runner.words.actions: one reader of what models write"""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.runner.words.actions import Malformed, Respond, ToolCall, native
from ahp.runner.words.control_protocol import Reading
from ahp.runner.words.replies import Act, Final, Protocol, Words, is_protocol_content, read_reply

TOOLS = frozenset({"read_file", "write_file", "search"})
CALL = '{"tool": "read_file", "args": {"path": "a"}}'
READ = Act(calls=(ToolCall("read_file", {"path": "a"}),))
OTHER = '{"tool": "search", "args": {"pattern": "x"}}'
BOTH = Act(calls=(ToolCall("read_file", {"path": "a"}), ToolCall("search", {"pattern": "x"})))
ARGS = '{"path": "a"}'


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"  {CALL}\n",
        f"```json\n{CALL}\n```",
        f"I will look at it.\n{CALL}",
        f"I will look at it:\n\n```json\n{CALL}\n```",
        f"```\nx = 1\n```\n{CALL}",
        f"```\nx = 1\n```\n```json\n{CALL}\n```",
    ],
)
@pytest.mark.parametrize("tools", [TOOLS, ()])
def test_a_call_stands_alone_in_a_fence_or_at_the_end(text: str, tools: frozenset[str]) -> None:
    assert read_reply(text, tools) == READ


@pytest.mark.parametrize(
    "text",
    [
        f'{{"thought": "hm", "tool": "read_file", "args": {ARGS}}}',
        f'{{"id": 1, "tool": "read_file", "args": {ARGS}}}',
        f'{{"args": {ARGS}, "tool": "read_file"}}',
        f'{{"tool": "read_file", "arguments": {ARGS}}}',
        f'{{"tool": "read_file", "parameters": {ARGS}}}',
        f'{{"tool": "read_file", "input": {ARGS}}}',
        '{"tool": "read_file", "path": "a"}',
        f'{{"tool": {{"name": "read_file", "args": {ARGS}}}}}',
        f'{{"function": "read_file", "args": {ARGS}}}',
        # OpenAI
        f'{{"name": "read_file", "arguments": {ARGS}}}',
        json.dumps({"tool_calls": [{"id": "c", "function": {"name": "read_file", "arguments": ARGS}}]}),
        json.dumps({"type": "function", "function": {"name": "read_file", "arguments": ARGS}}),
        f'{{"function_call": {{"name": "read_file", "arguments": {ARGS}}}}}',
        # Anthropic
        f'{{"type": "tool_use", "id": "t", "name": "read_file", "input": {ARGS}}}',
        # Hermes, Qwen, Llama, Mistral
        f'<tool_call>\n{{"name": "read_file", "arguments": {ARGS}}}\n</tool_call>',
        f'<tool_call>{{"name": "read_file", "arguments": {ARGS}}}',
        f'[TOOL_CALLS] [{{"name": "read_file", "arguments": {ARGS}}}]',
        # LangChain
        f'{{"action": "read_file", "action_input": {ARGS}}}',
        # names of namespaces
        f'{{"name": "functions.read_file", "parameters": {ARGS}}}',
        f'{{"tool": "default_api.read_file", "args": {ARGS}}}',
        # marked up, or with words round it
        f"Let me check: {CALL}",
        f"I will read it. {CALL}",
        f"- {CALL}",
        f"1. {CALL}",
        f"> {CALL}",
        f"**{CALL}**",
        f"`{CALL}`",
        f"({CALL})",
        f"“{CALL}”",
        f"[{CALL}]",
        f"\ufeff{CALL}",
        f"\u200b\u202e{CALL}\x00",
        f"<think>hm</think>{CALL}",
        f"so I read it\n</think>\n{CALL}",
        f"<thinking>hm</thinking>{CALL}",
        f"{CALL}<|im_end|>\n<|im_start|>user\nResult: x",
        f'{{"actions": [{CALL}]}}',
        f'{{"action": {CALL}}}',
        f"```json{CALL}```",
        f"JSON: {CALL}",
        f'functools[{{"name": "read_file", "arguments": {ARGS}}}]',
        f'<|python_tag|>{{"name": "read_file", "parameters": {ARGS}}}<|eom_id|>',
        f'<|tool_call|>[{{"name": "read_file", "arguments": {ARGS}}}]',
    ],
)
def test_what_names_a_tool_of_the_run_is_a_call_in_whatever_shape(text: str) -> None:
    assert read_reply(text, TOOLS) == READ


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"{CALL}\nResult: none\n{OTHER}", "text behind a call (read_file, search), and nothing was done"),
        (f"<tool_call>{CALL}</tool_call>The file is empty.<tool_call>{OTHER}</tool_call>", "text behind a call"),
        (f"{CALL}\n{CALL}", "the same call twice (read_file, read_file), and none was made"),
        (f"{CALL}\n{OTHER}\nResult: none", "text behind a call"),
        (f'{CALL}\n{{"tool": "search", "args": [1]}}', "a name and an object"),
        (f'{CALL}\n{{"tool": "search", "args": {{"pattern": "unfinished', "it has no end"),
        (f'{CALL}\n{OTHER}\n{{"control": "step_done"}}', "not both"),
        (f"{CALL}\nResult: none", "text behind a call"),
        (f'{CALL}\n{{"control": "step_done"}}', "not both"),
        ('{"tool": "read_file", "control": "step_done"}', "not both"),
        ('{"tool": "read_file", "args": [1]}', "a name and an object"),
        (f"```json\n{CALL}\n```\nI will wait for the result.", "text behind a call"),
        (f"use {CALL} to read", "final_answer"),
        (f"`{CALL}` is how a file is read.", "final_answer"),
        (f"<function=read_file>{ARGS}</function>", "one JSON object"),
        ("```js\nreturn {name: 'search', x: 1}\n```", "cannot be read"),
        ('{"tool": 5}', "a name and an object"),
        ('{"tool": "a", "tool": "b"}', "cannot be read (duplicate key)"),
        ('{"tool": "a", "args": {"x": NaN}}', "NaN is not JSON"),
        ('{"tool": "a", "args": {"x": "unfinished', "it has no end"),
        ('{"thought": "x", "tool": "write_file", "args": {"text": "unfinished', '{"tool": "write_file", "args"'),
        ("{'tool': 'read_file', 'args': {'path': 'a'}}", "as JSON"),
        ('{tool: "read_file", args: {path: "a"}}', "as JSON"),
        ("{“tool”: “read_file”, “args”: {}}", "as JSON"),
        ('{"tool": "read_file", "args": {"path": "a"},}', "cannot be read"),
        (f"<think>I should\n{CALL}", "a thought that never ends"),
        ("<think>hm", "a thought that never ends"),
        ('read_file(path="a")', '{"tool": "read_file", "args": {}}'),
        ('I look.\n```\nprint(read_file(path="a"))\n```', "one JSON object"),
        (f"functions.read_file({ARGS})", "one JSON object"),
        (f"[TOOL_CALLS]read_file{ARGS}", "one JSON object"),
        ("I will read.\n<read_file>\n<path>a</path>\n</read_file>", "one JSON object"),
        ('{"respond": 5, "action": "dismiss"}', "two texts"),
        (r"{\"tool\": \"read_file\", \"args\": {}}", "cannot be read"),
        ('{"tool" = "read_file", "args" = {}}', "cannot be read"),
    ],
)
def test_what_means_to_act_and_cannot_is_told_the_right_form(text: str, problem: str) -> None:
    reply = read_reply(text, TOOLS)
    assert isinstance(reply, Malformed)
    assert problem in reply.problem


@pytest.mark.parametrize(
    "text",
    [
        CALL + OTHER,
        f"I read and search.\n\n{CALL}\n\n{OTHER}",
        f"```json\n{CALL}\n```\n```json\n{OTHER}\n```",
        f"[{CALL},\n {OTHER}]",
        f"```json\n[{CALL}, {OTHER}]\n```",
        f"<tool_call>\n{CALL}\n</tool_call>\n<tool_call>\n{OTHER}\n</tool_call>",
        f"- {CALL}\n- {OTHER}",
        f'{{"tool_calls": [{CALL}, {OTHER}]}}',
    ],
)
def test_several_calls_with_nothing_between_them_are_made_in_order(text: str) -> None:
    assert read_reply(text, TOOLS) == BOTH


def test_a_call_beside_the_text_has_its_arguments_as_an_object_or_as_text() -> None:
    for args in ({"path": "a"}, ARGS):
        call = native("functions.read_file", args, "c1", TOOLS)
        assert isinstance(call, ToolCall)
        assert (call, call.id) == (ToolCall("read_file", {"path": "a"}), "c1")
    assert isinstance(native("read_file", "[1]", "", TOOLS), Malformed)


@pytest.mark.parametrize(
    "text",
    [
        '{"tool": "nope", "args": {}}',
        '{"tool": "nope", "parameters": {}}',
        '{"tool": "nope"}',
        '{"name": "nope", "arguments": {}}',
    ],
)
def test_a_call_of_a_tool_that_is_not_there_is_a_call(text: str) -> None:
    assert read_reply(text, TOOLS) == Act(calls=(ToolCall("nope", {}),))


@pytest.mark.parametrize(
    "text",
    [
        "plain words",
        '{"tool": "hammer", "price": 5}',
        '{"tool": "drill", "input": "steel"}',
        '{"name": "search", "stars": 5}',
        '{"name": "Bob", "arguments": "none"}',
        '{"name": "Bob", "parameters": {"age": 5}}',
        '{"type": "function", "name": "f", "description": "x", "parameters": {"type": "object"}}',
        '{"a": 1}',
        "search(x) is a function.",
        '{"search": {"hits": 3}}',
        '{"command": "search"}',
        '{"command": "ls", "arguments": {}}',
        '{"read_file": "a"}',
        "search {\n  color: red\n} is a rule of its stylesheet.",
        'The result of search:\n{"hits": 3}',
        'What read_file gave:\n{"path": "a"}',
        "Use search: it finds {braces}, too.",
        "Tool: search\nIt finds lines.",
        "The page has a field:\n<search>\nand no button.",
        "Mistral writes\n```\n[TOOL_CALLS]search{}\n```\nbefore a call.",
        '{"tools": [{"description": "finds lines"}]}',
    ],
)
def test_data_and_sentences_about_tools_are_words(text: str) -> None:
    assert read_reply(text, TOOLS) == Words(text)


def test_answers_to_the_gate_may_be_several_and_come_with_an_action() -> None:
    text = '{"respond": "ab", "action": "dismiss"}\n{"respond": "cd", "action": "acknowledge", "reason": "r"}'
    both = (Respond("ab", "dismiss", {}), Respond("cd", "acknowledge", {"reason": "r"}))
    assert read_reply(text) == Act(both)
    assert read_reply(f"{text}\n{CALL}", TOOLS) == Act(both, calls=(ToolCall("read_file", {"path": "a"}),))
    assert read_reply(f"{CALL}\n{text}", TOOLS) == Act(both, calls=(ToolCall("read_file", {"path": "a"}),))
    done = Reading("step_done", None, "envelope")
    assert read_reply(f'{text}\n{{"control": "step_done"}}', TOOLS, "step") == Act(both, control=done)
    assert read_reply(f"{text}\nand on I go", TOOLS) == Act(both)
    assert read_reply('{"thought": "x", "respond": "a", "action": "b"}') == Act((Respond("a", "b", {}),))


def test_details_of_an_answer_become_a_mapping() -> None:
    said = '{"respond": "ab", "action": "dismiss", "details": %s}'
    assert read_reply(said % '"why"') == Act((Respond("ab", "dismiss", {"text": "why"}),))
    assert read_reply(said % '{"a": 1}') == Act((Respond("ab", "dismiss", {"a": 1}),))


@pytest.mark.parametrize(
    "text",
    [
        '{"control": "step_done"}\n{"control": "replan"}',
        'All tests pass.\n{"control": "step_done"}',
        '{"control": "step_done"}\nMoving on.',
        "{'control': 'step_done'}",
        '{"control": "Step_Done"}',
        '{"control": ["step_done"]}',
        'All is done. {"tool": "control", "args": {"control": "step_done"}}',
    ],
)
def test_text_ends_a_step_only_by_one_envelope_alone(text: str) -> None:
    reply = read_reply(text, TOOLS, "step")
    assert isinstance(reply, Malformed)
    assert "one control object with nothing around it" in reply.problem
    assert is_protocol_content(text, TOOLS)


def test_control_signals_are_read_in_steps_only() -> None:
    text = '{"control": "step_done"}'
    assert read_reply(text, TOOLS, "step") == Act(control=Reading("step_done", None, "envelope"))
    for scene in ("planning", "react", "answer", "gate"):
        assert read_reply(text, TOOLS, scene) == Protocol()
        assert read_reply("STEP_DONE", TOOLS, scene) == Protocol()


@pytest.mark.parametrize("text", ["", "\ufeff \n", "<think>hm</think>", "<|im_end|>", "```\n```", "..."])
def test_nothing_is_protocol(text: str) -> None:
    assert read_reply(text) == Protocol()


@pytest.mark.parametrize("scene", ["react", "answer", "planning"])
def test_a_final_answer_is_a_call_that_ends_the_run_and_no_step(scene: str) -> None:
    typed = '{"tool": "final_answer", "args": {"text": "It is 5."}}'
    for form in (
        typed,
        '{"tool": "final_answer", "args": "It is 5."}',
        '```json\n{"action": "final_answer", "action_input": {"text": "It is 5."}}\n```',
        '{"name": "final_answer", "arguments": "{\\"text\\": \\"It is 5.\\"}"}',
    ):
        assert read_reply(form, TOOLS, scene) == Final({"text": "It is 5."})
        in_a_step = read_reply(form, TOOLS, "step")
        assert isinstance(in_a_step, Malformed)
        assert "not a step" in in_a_step.problem
    assert isinstance(read_reply(f"{CALL}\n{typed}", TOOLS, scene), Malformed)
    assert read_reply('See {"action_input": 5}', TOOLS, scene) == Words('See {"action_input": 5}')


def test_calls_beside_the_text_are_what_a_reply_does_whatever_its_words_say() -> None:
    call = ToolCall("read_file", {"path": "a"})
    for text in ("", "I read it.", OTHER, "<think>so", 'It holds {"control": "step_done"}.'):
        assert read_reply(text, TOOLS, "step", calls=[call]) == READ
    both = read_reply('{"respond": "ab", "action": "dismiss"}', TOOLS, "step", calls=[call])
    assert both == Act((Respond("ab", "dismiss", {}),), calls=(call,))
    done = ToolCall("control", {"control": "step_done", "reason": "all is there"})
    reading = Act(control=Reading("step_done", "all is there", "tool"))
    assert read_reply("The step is complete.", TOOLS, "step", calls=[done]) == reading
    assert read_reply('{"tool": "control", "args": {"control": "step_done"}}', TOOLS, "step") == Act(
        control=Reading("step_done", None, "tool")
    )
    for wrong, scene, problem in (
        ([done], "react", "none is worked on"),
        ([call, done], "step", "not both"),
        ([ToolCall("control", {"control": "done"})], "step", "'step_done' or 'replan'"),
        ([call, ToolCall("final_answer", {"text": "x"})], "react", "send it alone"),
        ([Malformed("no object")], "step", "no object"),
    ):
        reply = read_reply("", TOOLS, scene, calls=wrong)
        assert isinstance(reply, Malformed)
        assert problem in reply.problem


@pytest.mark.parametrize(
    "text", [f"I'll call {CALL}", f"I'll call `{CALL}`", f"I'll call `{CALL}`.", f"Next comes **{CALL}**!"]
)
@pytest.mark.parametrize("scene", ["react", "answer", "step"])
def test_a_call_at_the_end_of_a_sentence_is_a_call(text: str, scene: str) -> None:
    assert read_reply(text, TOOLS, scene) == READ


def test_turns_that_a_model_writes_for_others_are_no_part_of_a_reply() -> None:
    assert read_reply("It is 5.\n<|im_start|>user\nAll done.") == Words("It is 5.")


PIECES = st.sampled_from(
    [CALL, '{"control":"step_done"}', '{"respond":"a","action":"b"}', "{", "}", "[", "]", '"', "'", "\n", "```", "~~~"]
) | st.sampled_from(
    [
        "<tool_call>",
        "</think>",
        "<think>",
        ":",
        "- ",
        "**",
        "`",
        '{"name":',
        "read_file",
        "Action: ",
        "(",
        ")",
        "\\",
        "\r",
    ]
)


@given(st.lists(PIECES | st.text(max_size=5), max_size=12).map("".join), st.sampled_from(["step", "react", ""]))
def test_nothing_makes_the_reader_raise(text: str, scene: str) -> None:
    reply = read_reply(text, TOOLS, scene)
    if isinstance(reply, Words):
        assert reply.text


@given(st.text("abc .,:\n", max_size=60), st.text("abc .,\n", max_size=60))
def test_a_call_between_words_is_never_shown_as_an_answer_when_it_has_a_line(before: str, behind: str) -> None:
    assert not isinstance(read_reply(f"{before}\n{CALL}\n{behind}", TOOLS), Words)


@pytest.mark.parametrize(
    "text", ["<|a|>" * 50_000 + "read_file{}", "[TOOL_CALLS]" * 40_000 + "}", "call the tool " * 9_000]
)
def test_long_runs_of_marks_are_read_once(text: str) -> None:
    assert not isinstance(read_reply(text, TOOLS, "react"), Act)


HELD = f"How to begin:\n{CALL}\n"


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        (f"The file holds this: {CALL}", True),
        (f"It says:\n{CALL}", True),
        (f"It says:\n\n> {CALL}", True),
        (f"It says:\n```json\n{CALL}\n```", True),
        (f"I do both.\n{OTHER}\n{CALL}", True),
        (f"It says:\n{CALL}".replace(": ", ":").replace(", ", ","), True),
        (CALL, False),
        (f"```json\n{CALL}\n```", False),
        (f"<tool_call>{CALL}</tool_call>", False),
        (f"I look elsewhere: {OTHER}", False),
    ],
)
def test_a_call_that_stands_in_what_was_read_is_not_made_behind_words(text: str, quoted: bool) -> None:
    reply = read_reply(text, TOOLS, "step", lambda: ["nothing", HELD])
    assert isinstance(reply, Malformed if quoted else Act)
    assert isinstance(read_reply(text, TOOLS, "step"), Act)
    if isinstance(reply, Malformed):
        assert "send the call alone" in reply.problem


@pytest.mark.parametrize("raw", ["a\nb", "a\r\n\tb"])
def test_the_text_of_a_file_may_be_written_as_it_is(raw: str) -> None:
    wanted = Act(calls=(ToolCall("write_file", {"path": "a", "content": raw}),))
    args = f'{{"path": "a", "content": "{raw}"}}'
    assert read_reply(f'{{"tool": "write_file", "args": {args}}}', TOOLS) == wanted
    assert read_reply(json.dumps({"tool": "write_file", "args": args}), TOOLS) == wanted


def test_marks_of_a_channel_are_no_part_of_a_tools_name() -> None:
    reply = read_reply('{"tool": "functions.read_file<|channel|>commentary", "args": {"path": "a"}}', TOOLS)
    assert reply == Act(calls=(ToolCall("read_file", {"path": "a"}),))
