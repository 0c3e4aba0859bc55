"""What real models reply, over HTTP: wire shapes, forms of calls, ends, plans and failures, and what is right then."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ahp.runner.run.run_state import NO_EVIDENCE
from ahp.runner.verification.result import VerificationResult
from tests.runner.models.server import Play, chat, error, resets, says, sends

TASK = "Mend add in calc.py: it subtracts."
ASKED = "What does add in calc.py do?"
OLD = "def add(a, b):\n    return a - b\n"
NEW = "def add(a, b):\n    return a + b\n"
ARGS: dict[str, Any] = {"path": "calc.py", "content": NEW}
DID = "I mended add in calc.py; it adds now."
IS = "It subtracts b from a."
WILL = "I'll now update calc.py."
DONE = '{"control": "step_done"}'


class Checks:
    """A verifier that says whether add adds."""

    def verify(self, root: str, timeout_s: float) -> VerificationResult:
        good = "a + b" in (Path(root) / "calc.py").read_text()
        return VerificationResult("passed", "1 passed") if good else VerificationResult("test_failure", "1 failed")


@dataclass(frozen=True)
class Habit:
    """One habit: what is replied in turn (the last again and again), and how the run has to end.

    `form` is the `reply_format`, `most` the requests that it may take.
    """

    name: str
    replies: tuple[Any, ...]
    ends: str = "DONE"
    mended: bool = True
    answer: str = ""
    task: str = TASK
    form: str = "text"
    api: str = "openai"
    plan: bool = False
    most: int = 6

    def plays(self) -> list[Play]:
        return [one if callable(one) else says(self._body(one)) for one in self.replies]

    def _body(self, reply: Any) -> Any:
        if isinstance(reply, str):
            return messages(reply) if self.api == "anthropic" else chat(reply)
        return reply


def native(
    name: str = "write_file", args: Any = None, call_id: Any = "call_1", text: Any = None, finish: str = "tool_calls"
) -> dict[str, object]:
    """A chat completion that calls one tool."""
    return natives((name, ARGS if args is None else args, call_id), text=text, finish=finish)


def natives(*calls: tuple[str, Any, Any], text: Any = None, finish: str = "tool_calls") -> dict[str, object]:
    listed = []
    for name, args, call_id in calls:
        told = args if isinstance(args, str) else json.dumps(args)
        listed.append({"id": call_id, "type": "function", "function": {"name": name, "arguments": told}})
    return chat(text, finish, tool_calls=listed)


def final(text: str = DID, changed: Any = ("calc.py",), **more: Any) -> dict[str, object]:
    claim = list(changed) if isinstance(changed, tuple) else changed
    return native("final_answer", {"text": text, "changed": claim, **more}, "call_9")


def messages(text: str = "", *blocks: dict[str, Any], stop: str = "end_turn", **more: Any) -> dict[str, object]:
    """A message of Anthropic's interface."""
    said = [{"type": "text", "text": text}] if text else []
    return {"type": "message", "role": "assistant", "content": [*said, *blocks], "stop_reason": stop, **more}


def use(name: str = "write_file", args: Any = None, call_id: str = "toolu_1") -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": ARGS if args is None else args}


def text_call(**more: Any) -> str:
    return json.dumps({"tool": "write_file", "args": ARGS, **more})


CALL = text_call()
HALF = json.dumps(ARGS)
PLAN = json.dumps(
    {"title": "mend", "steps": [{"id": "s1", "description": "mend add", "tools_expected": ["write_file"]}]}
)
EDIT = {"file_path": "calc.py", "old_string": "a - b", "new_string": "a + b"}
SED = "sed -i 's/a - b/a + b/' calc.py"
BEGIN_PATCH = (
    "*** Begin Patch\n*** Update File: calc.py\n@@\n def add(a, b):\n"
    "-    return a - b\n+    return a + b\n*** End Patch"
)
UNIFIED = "--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1,2 @@\n def add(a, b):\n-    return a - b\n+    return a + b\n"
CLINE = "------- SEARCH\n    return a - b\n=======\n    return a + b\n+++++++ REPLACE"
AIDER = "<<<<<<< SEARCH\n    return a - b\n=======\n    return a + b\n>>>>>>> REPLACE"


def _wire(name: str, *replies: Any, **more: Any) -> Habit:
    return Habit(f"wire: {name}", (*replies, final()), form="auto", **more)


WIRE = [
    _wire("a call as it should be", native()),
    _wire(
        "arguments as an object",
        chat(None, "tool_calls", tool_calls=[{"id": "1", "function": {"name": "write_file", "arguments": ARGS}}]),
    ),
    _wire("no id", native(call_id=None)),
    _wire("an id that is a number", native(call_id=7)),
    _wire("one id for two calls", natives(("read_file", {"path": "calc.py"}, "x"), ("write_file", ARGS, "x"))),
    _wire(
        "the old function_call", chat(None, "function_call", function_call={"name": "write_file", "arguments": HALF})
    ),
    _wire("finish_reason stop beside a call", native(finish="stop")),
    _wire("an empty text beside a call", native(text="")),
    _wire("a comment beside a call", native(text="I will write the file now.")),
    _wire("the call in the text, too", native(text=CALL)),
    _wire("an empty list of calls, then one", chat("Let me look.", tool_calls=[]), native()),
    _wire("arguments with a line end behind", native(args=HALF + "\n")),
    _wire("arguments encoded twice", native(args=json.dumps(HALF))),
    _wire("no arguments for a tool without any", native("list_files", ""), native()),
    _wire("a name with functions. before it", native("functions.write_file")),
    _wire("Write, as Claude Code has it", native("Write", {"file_path": "calc.py", "content": NEW})),
    _wire("Edit, as Claude Code has it", native("Edit", EDIT)),
    _wire(
        "MultiEdit, as Claude Code has it",
        native("MultiEdit", {"file_path": "calc.py", "edits": [{"old_string": "a - b", "new_string": "a + b"}]}),
    ),
    _wire(
        "str_replace_based_edit_tool",
        native(
            "str_replace_based_edit_tool",
            {"command": "str_replace", "path": "calc.py", "old_str": "a - b", "new_str": "a + b"},
        ),
    ),
    _wire(
        "str_replace_editor create",
        native("str_replace_editor", {"command": "create", "path": "calc.py", "file_text": NEW}),
    ),
    _wire("execute_bash", native("execute_bash", {"command": SED})),
    _wire("a command as a list", native("shell", {"command": ["bash", "-lc", SED]})),
    _wire("apply_patch with Begin Patch", native("apply_patch", {"input": BEGIN_PATCH})),
    _wire("apply_patch with a unified diff", native("apply_patch", {"patch": UNIFIED})),
    _wire("replace_in_file of Cline", native("replace_in_file", {"path": "calc.py", "diff": CLINE})),
    _wire("replace_in_file with aider's marks", native("replace_in_file", {"path": "calc.py", "diff": AIDER})),
    _wire("filePath in camel case", native("write_file", {"filePath": "calc.py", "content": NEW})),
    _wire("an explanation among the arguments", native("write_file", {**ARGS, "explanation": "it has to add"})),
    _wire("arguments in a wrapper", native("write_file", {"args": ARGS})),
    _wire("an unknown tool, then a known one", native("mend_file"), native()),
    _wire("no name, then one", native(""), native()),
    _wire("finish_reason tool_calls without a call", chat("", "tool_calls"), native()),
    _wire("Gemini's malformed call", chat("", "malformed_function_call: x"), native()),
    _wire("thoughts beside nothing, then a call", chat("", reasoning_content="I have to write the file"), native()),
    _wire(
        "text in parts",
        chat(
            [{"type": "text", "text": "So."}],
            "tool_calls",
            tool_calls=[{"id": "1", "function": {"name": "write_file", "arguments": HALF}}],
        ),
    ),
    _wire("a path with ./ before it", native(args={**ARGS, "path": "./calc.py"})),
]


def _said(name: str, *replies: Any, **more: Any) -> Habit:
    return Habit(f"text: {name}", (*replies, DID), **more)


TEXT = [
    _said("one object", CALL),
    _said("one object in a fence", f"```json\n{CALL}\n```"),
    _said("words, then a fence", f"Let me write it.\n\n```json\n{CALL}\n```"),
    _said("at the end of a sentence", f"I'll write the file now: {CALL}"),
    _said("in backticks", f"I'll call `{CALL}`"),
    _said("a fence in words", f"Here is the call:\n```json\n{CALL}\n```\nThis mends it.", CALL),
    _said("Hermes", f'<tool_call>\n{{"name": "write_file", "arguments": {HALF}}}\n</tool_call>'),
    _said("name and arguments", f'{{"name": "write_file", "arguments": {HALF}}}'),
    _said(
        "name and parameters, as Llama has it", f'{{"type": "function", "name": "write_file", "parameters": {HALF}}}'
    ),
    _said("behind <|python_tag|>", f'<|python_tag|>{{"name": "write_file", "parameters": {HALF}}}<|eom_id|>'),
    _said("action and action_input", f'{{"action": "write_file", "action_input": {HALF}}}'),
    _said("function with its arguments as text", json.dumps({"function": {"name": "write_file", "arguments": HALF}})),
    _said("a list", f'[{{"name": "write_file", "parameters": {HALF}}}]'),
    _said(
        "OpenAI's wrapper",
        json.dumps(
            {"tool_calls": [{"id": "1", "type": "function", "function": {"name": "write_file", "arguments": HALF}}]}
        ),
    ),
    _said("Mistral", f'[TOOL_CALLS][{{"name": "write_file", "arguments": {HALF}}}]'),
    _said("newer Mistral", f"[TOOL_CALLS]write_file[ARGS]{HALF}", CALL),
    _said("Harmony", f"<|channel|>commentary to=functions.write_file <|constrain|>json<|message|>{HALF}<|call|>", CALL),
    _said("Granite", f'<|tool_call|>[{{"name": "write_file", "arguments": {HALF}}}]'),
    _said("Command R", f'Action: ```json\n[{{"tool_name": "write_file", "parameters": {HALF}}}]\n```', CALL),
    _said(
        "Qwen Coder's XML",
        f"<tool_call>\n<function=write_file>\n<parameter=path>\ncalc.py\n</parameter>\n<parameter=content>\n{NEW}</parameter>\n</function>\n</tool_call>",
        CALL,
    ),
    _said(
        "Claude's XML",
        '<function_calls>\n<invoke name="write_file">\n<parameter name="path">calc.py</parameter>\n'
        f'<parameter name="content">{NEW}</parameter>\n</invoke>\n</function_calls>',
        CALL,
    ),
    _said("Cline's XML", f"<write_to_file>\n<path>calc.py</path>\n<content>\n{NEW}</content>\n</write_to_file>", CALL),
    _said(
        "GLM",
        f"<tool_call>write_file\n<arg_key>path</arg_key>\n<arg_value>calc.py</arg_value>\n<arg_key>content</arg_key>\n<arg_value>{NEW}</arg_value>\n</tool_call>",
        CALL,
    ),
    _said(
        "DeepSeek",
        f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>write_file\n```json\n{HALF}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        CALL,
    ),
    _said(
        "Kimi",
        f"<|tool_calls_section_begin|><|tool_call_begin|>functions.write_file:0<|tool_call_argument_begin|>{HALF}<|tool_call_end|><|tool_calls_section_end|>",
        CALL,
    ),
    _said("a line of Python", f'write_file(path="calc.py", content={NEW!r})', CALL),
    _said("Gemma's tool_code", f'```tool_code\nwrite_file(path="calc.py", content={NEW!r})\n```', CALL),
    _said("ReAct", f"Thought: I have to write it.\nAction: write_file\nAction Input: {HALF}", CALL),
    _said("a shell block", f"```bash\n{SED}\n```", CALL, most=8),
    _said("a file in a fence", f"Here is the mended calc.py:\n```python\n{NEW}```", CALL, most=8),
    _said("single quotes", str({"tool": "write_file", "args": ARGS}), CALL),
    _said("a comma too many", CALL[:-1] + ",}", CALL),
    _said("a comment in it", CALL.replace('"args"', '// the file\n"args"'), CALL),
    _said("line ends as they are", CALL.replace("\\n", "\n")),
    _said("a brace too few", CALL[:-1], CALL),
    _said("behind thoughts", f"<think>I should write the file.</think>\n{CALL}"),
    _said("behind thoughts without their begin", f"I should write the file.\n</think>\n\n{CALL}"),
    _said(
        "behind thoughts with another call",
        f'<think>First {{"tool": "run_command", "args": {{"command": "rm calc.py"}}}}?</think>{CALL}',
    ),
    _said("thoughts that never end", "<think>I should write the file, and then", CALL),
    _said("with marks of a chat template", f"<|im_start|>assistant\n{CALL}<|im_end|>"),
    _said("with a result made up", f"{CALL}\nResult: wrote calc.py\nI mended add.", CALL),
    _said("twice the same", f"{CALL}\n{CALL}", CALL),
    _said("two with words between", f'{{"tool": "read_file", "args": {{"path": "calc.py"}}}}\nthen\n{CALL}', CALL),
    _said("two in a row", f'{{"tool": "read_file", "args": {{"path": "calc.py"}}}}\n{CALL}'),
    _said("a call and its answer in one", f"{CALL}\n\nI mended add.", CALL),
    _said("arguments beside the name", json.dumps({"tool": "write_file", **ARGS})),
    _said("arguments as text", json.dumps({"tool": "write_file", "args": HALF})),
    _said("a trained name", json.dumps({"name": "Write", "input": {"file_path": "calc.py", "content": NEW}})),
    _said("invisible marks around it", f"\ufeff{CALL}\u200b"),
]

LOOKED = native("read_file", {"path": "calc.py"})
ENDS = [
    Habit("end: words where final_answer is wanted", (native(), DID), form="auto", answer=DID),
    Habit("end: changed as one text", (native(), final(changed="calc.py")), form="auto", answer=DID),
    Habit("end: unsure as a list", (native(), final(unsure=["the tests"])), form="auto", answer=DID),
    Habit("end: no text, then one", (native(), native("final_answer", {"changed": []}), final()), form="auto"),
    Habit("end: answer for text", (native(), native("final_answer", {"answer": DID}), final()), form="auto"),
    Habit("end: announces, then does", (WILL, CALL, DID), answer=DID),
    Habit("end: announces natively, then does", (WILL, native(), final()), form="auto"),
    Habit("end: announces and stops", (WILL,), NO_EVIDENCE, mended=False),
    Habit("end: announces natively and stops", (WILL,), NO_EVIDENCE, mended=False, form="auto"),
    Habit("end: refuses in words", ("I'm sorry, but I can't help with that.",), NO_EVIDENCE, mended=False),
    Habit("end: refuses as such", (chat(None, refusal="I can't help with that."),), "MODEL_ERROR", mended=False),
    Habit("end: a content filter", (chat("", "content_filter"),), "MODEL_ERROR", mended=False),
    Habit("end: one read and a claim", (LOOKED, DID), NO_EVIDENCE, mended=False, form="auto"),
    Habit("end: one read and a typed claim", (LOOKED, final()), NO_EVIDENCE, mended=False, form="auto"),
    Habit("end: a claim, taken back", (final(), native(), final()), form="auto"),
    Habit("end: claims another file", (native(), final(changed=("README.md",)), final()), form="auto"),
    Habit("end: a question is answered at once", (IS,), task=ASKED, mended=False, answer=IS, most=1),
    Habit("end: a question in native words", (IS,), task=ASKED, mended=False, answer=IS, form="auto", most=2),
    Habit("end: a question, typed", (final(IS, None),), task=ASKED, mended=False, answer=IS, form="auto", most=1),
    Habit("end: nothing, then a call", ("", CALL, DID)),
    Habit("end: dots, then a call", ("...", CALL, DID)),
    Habit("end: nothing for ever", ("",), "MAX_ITER", mended=False, most=20),
    Habit(
        "end: the JSON that was asked for",
        ('{"adds": false}',),
        task="Does add in calc.py add? Answer as JSON: {adds}. Right?",
        mended=False,
        answer='{"adds": false}',
        most=1,
    ),
    Habit("end: a turn of the user's behind it", (CALL, f"{DID}\n<|im_start|>user\nThanks!<|im_end|>"), answer=DID),
    Habit("end: an envelope glued to it", (CALL, f"{DID}\n{DONE}", DID), answer=DID),
    Habit("end: an envelope alone", (CALL, DONE, DID), answer=DID),
    Habit("end: final_answer as text", (CALL, json.dumps({"tool": "final_answer", "args": {"text": DID}})), answer=DID),
    Habit(
        "end: final_answer beside its call",
        (natives(("write_file", ARGS, "1"), ("final_answer", {"text": DID}, "2")), native(), final()),
        form="auto",
    ),
    Habit("end: the same read for ever", (LOOKED,), "MAX_ITER", mended=False, form="auto", most=20),
]


def _planned(name: str, *replies: Any, **more: Any) -> Habit:
    return Habit(f"plan: {name}", replies, plan=True, **{"most": 8, **more})


WORK = (CALL, DONE, DID)
STEP = {"id": "s1", "description": "mend add", "dependencies": [], "tools_expected": ["write_file"]}
PLANS = [
    _planned("as asked", PLAN, *WORK),
    _planned("in a fence with words", f"Here is my plan:\n```json\n{PLAN}\n```\nShall I begin?", *WORK),
    _planned("steps as texts", '{"steps": ["mend add in calc.py"]}', *WORK),
    _planned("no ids", '{"steps": [{"description": "mend add"}]}', *WORK),
    _planned(
        "task, depends_on, null, todo, pytest",
        json.dumps(
            {
                "steps": [{"task": "mend add", "depends_on": [], "tools_expected": None, "status": "todo"}],
                "verification_policy": "pytest",
            }
        ),
        *WORK,
    ),
    _planned("numbers for ids", json.dumps({"steps": [{**STEP, "id": 1}]}), *WORK),
    _planned("plan within plan", json.dumps({"plan": {"title": "t", "steps": [STEP]}}), *WORK),
    _planned("a list named plan", json.dumps({"plan": [STEP]}), *WORK),
    _planned("a bare list", json.dumps([STEP]), *WORK),
    _planned("a [PLAN] list", "[PLAN]\n1. [ ] mend add (tools: write_file)", *WORK),
    _planned("a numbered list, then a plan", "1. Open calc.py\n2. Change the sign", PLAN, *WORK),
    _planned("a cycle, then a plan", json.dumps({"steps": [{**STEP, "dependencies": ["s1"]}]}), PLAN, *WORK),
    _planned(
        "an unknown dependency, then a plan", json.dumps({"steps": [{**STEP, "dependencies": ["s0"]}]}), PLAN, *WORK
    ),
    _planned("a call, then a plan", CALL, PLAN, *WORK),
    _planned("a call in place of each plan", CALL, CALL, *WORK, DID),
    _planned("thoughts before it", f"<think>two steps? one.</think>{PLAN}", *WORK),
    _planned("words for a question", IS, IS, task=ASKED, mended=False, answer=IS, most=2),
    _planned("words for a change", WILL, WILL, WILL, ends=NO_EVIDENCE, mended=False),
    _planned(
        "the prompt's own example",
        '{"title": "the goal", "steps": [{"id": "step_1", "description": "…"}]}',
        PLAN,
        *WORK,
    ),
    _planned("an envelope behind words", PLAN, CALL, f"The step is complete.\n\n{DONE}", DONE, DID),
    _planned("an envelope in a fence", PLAN, CALL, f"```json\n{DONE}\n```", DONE, DID),
    _planned("the old string", PLAN, CALL, "STEP_DONE", DID),
    _planned("the old string in Chinese", PLAN, CALL, "【步骤完成】", DID),
    _planned("done before it is", PLAN, DONE, CALL, DONE, DID),
    _planned("done and never is", PLAN, DONE, ends=NO_EVIDENCE, mended=False),
    _planned("words in place of a signal", PLAN, CALL, "The step is complete.", DONE, DID),
    _planned("words for ever", PLAN, "The step is complete.", ends="MAX_ITER", mended=False, most=22),
    _planned("the signal as a tool", PLAN, native(), native("control", {"control": "step_done"}), final(), form="auto"),
    _planned(
        "words and the signal as a tool",
        PLAN,
        native(),
        native("control", {"control": "step_done"}, text="Done."),
        final(),
        form="auto",
    ),
    _planned("native words for ever", PLAN, native(), "The step is complete.", ends=NO_EVIDENCE, form="auto"),
    _planned(
        "final_answer in a step",
        PLAN,
        native(),
        final(),
        native("control", {"control": "step_done"}),
        final(),
        form="auto",
    ),
    _planned(
        "fewer signals than steps",
        json.dumps({"steps": [STEP, {"id": "s2", "description": "look at it"}]}),
        CALL,
        DONE,
        DONE,
        DID,
    ),
]


def _fails(name: str, *replies: Any, **more: Any) -> Habit:
    return Habit(f"wire fails: {name}", replies, **more)


BODY = json.dumps(chat(CALL)).encode()
SSE = (
    b"".join(
        b"data: %b\n\n" % json.dumps({"choices": [{"index": 0, "delta": {"content": part}}]}).encode()
        for part in (CALL[:20], CALL[20:])
    )
    + b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
)
STREAMED = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
FAILURES = [
    _fails("a reset before the reply", resets(), CALL, DID),
    _fails(
        "a reset within the reply", resets(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + BODY[:50]), CALL, DID
    ),
    _fails("429", says(error("slow down"), 429, Retry_After="0"), CALL, DID),
    _fails("503 while it loads", says(error("Loading model"), 503, Retry_After="0"), CALL, DID),
    _fails("502 with a page", says(b"<html>Bad Gateway</html>", 502, Retry_After="0"), CALL, DID),
    _fails(
        "an error with status 200", says({"error": {"message": "overloaded", "code": 529}}, Retry_After="0"), CALL, DID
    ),
    _fails("an empty body", says(b""), CALL, DID),
    _fails("a page in place of a reply", says(b"<html>Sign in</html>"), ends="MODEL_ERROR", mended=False),
    _fails("a refused key", says(error("no"), 401), ends="MODEL_ERROR", mended=False),
    _fails("a cut call", chat(CALL[:40], "length"), CALL, DID),
    _fails("a cut native call", native(args=HALF[:30], finish="length"), native(), final(), form="auto"),
    _fails(
        "a full context",
        LOOKED,
        native("read_file", {"path": "calc.py", "lines": 1}),
        says(error("maximum context length is 100 tokens"), 400),
        native(),
        final(),
        form="auto",
    ),
    _fails("refused tools", says(error("tools are not supported"), 400), CALL, DID, form="auto"),
    _fails(
        "a refused schema",
        PLAN,
        says(error("response_format is not supported"), 400),
        *WORK,
        form="schema",
        plan=True,
        most=8,
    ),
    _fails("no system role", says(error("System role not supported by the template"), 400), CALL, DID),
    _fails("another name of the limit", says(error("use max_completion_tokens instead of max_tokens"), 400), CALL, DID),
    _fails("a stream that nobody asked for", sends(STREAMED + SSE), DID),
    _fails("broken off by the server", chat("I", "error"), CALL, DID),
]


def _claude(name: str, *replies: Any, **more: Any) -> Habit:
    return Habit(f"messages: {name}", replies, api="anthropic", form="auto", **more)


LAST = messages("", use("final_answer", {"text": DID, "changed": ["calc.py"]}, "toolu_9"), stop="tool_use")
CLAUDE = [
    _claude("a call", messages("", use(), stop="tool_use"), LAST),
    _claude("words and a call", messages("I'll write it.", use(), stop="tool_use"), LAST),
    _claude(
        "thoughts and a call",
        messages("", {"type": "thinking", "thinking": "hm", "signature": "x"}, use(), stop="tool_use"),
        LAST,
    ),
    _claude(
        "two calls", messages("", use("read_file", {"path": "calc.py"}, "a"), use(call_id="b"), stop="tool_use"), LAST
    ),
    _claude("arguments as text", messages("", use(args=HALF), stop="tool_use"), LAST),
    _claude(
        "a cut call",
        messages("", use(args={"path": "calc.py"}), stop="max_tokens"),
        messages("", use(), stop="tool_use"),
        LAST,
    ),
    _claude("words at the end", messages("", use(), stop="tool_use"), DID, answer=DID),
    _claude("nothing at the end, then words", messages("", use(), stop="tool_use"), messages(), DID, answer=DID),
    _claude("announces and stops", WILL, ends=NO_EVIDENCE, mended=False),
    _claude("a refusal", messages("", stop="refusal"), ends="MODEL_ERROR", mended=False),
    _claude(
        "overloaded",
        says({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, 529, Retry_After="0"),
        messages("", use(), stop="tool_use"),
        LAST,
    ),
    _claude("a call as text", CALL, DID, answer=DID),
]

HABITS = [*WIRE, *TEXT, *ENDS, *PLANS, *FAILURES, *CLAUDE]
