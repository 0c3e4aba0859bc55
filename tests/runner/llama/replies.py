"""What the model of these tests says, by the names that their tasks give."""

from __future__ import annotations

import json
from typing import Any

WAYS = (
    "secrets/k",
    "./secrets/../secrets//k",
    "open/k",
    "near",
    "dangling",
    "{root}/secrets/k",
    "{root}/../other/open/k",
    "file://{root}/secrets/k",
    "/proc/self/cwd/secrets/k",
)
LINES = [f"line {number} of a file that is longer than one reply may be\n" for number in range(1, 31)]
PARTS = [LINES[:10], LINES[10:20], LINES[20:]]
# What servers leave in the text that do not read their models' own forms: it is no answer.
LEFT_IN_THE_TEXT = {
    "glued": 'Answer: 5 {"control": "step_done"}',
    "llama": '<|python_tag|>append_file.call(path="log", content="no")',
    "qwen": "I write.\n<tool_call>\n<function=append_file>\n<parameter=path>log</parameter>\n</function>\n</tool_call>",
    "mistral": '[TOOL_CALLS]append_file[ARGS]{"path": "log", "content": "no"}',
    "gemma": "I write:\n```tool_code\nappend_file(path='log', content='no')\n```",
    "harmony": "<|channel|>commentary to=functions.append_file <|constrain|>json<|message|>{}<|call|>",
    "template": "<|im_end|>",
}
CALLS = 15  # on end, with a context that holds only a few


def call(tool: str, **args: Any) -> str:
    return json.dumps({"tool": tool, "args": args})


def plan(*steps: tuple[str, str, list[str]]) -> str:
    """A plan in the very form that its JSON schema has: (id, description, ids that it waits for)."""
    listed = [
        {"id": name, "description": said, "dependencies": after, "tools_expected": []} for name, said, after in steps
    ]
    return json.dumps({"title": "goal", "steps": listed, "verification_policy": "auto"})


def appended(text: str) -> str:
    return appended_to("log", text)


def appended_to(path: str, text: str) -> str:
    return call("append_file", path=path, content=f"{text}\n")


def replies(root: str) -> dict[str, str]:
    """Every reply by its name; `root` is the folder of the project in which paths are tried."""
    found = {
        "done": '{"control": "step_done"}',
        "done_twice": '{"control": "step_done"}\n\n{"control": "step_done"}',
        "again": '{"control": "replan", "reason": "the way is closed"}',
        "final": "All is done.",
        **LEFT_IN_THE_TEXT,
        "empty": " ",
        # Three steps, listed the wrong way round.
        "three": plan(
            ("s3", "[[script:log_three,done]]", ["s2"]),
            ("s2", "[[script:log_two,done]]", ["s1"]),
            ("s1", "[[script:log_one,done]]", []),
        ),
        "log_one": appended("one"),
        "log_two": appended("two"),
        "log_three": appended("three"),
        # Steps side by side: two that write one file, one that does not, one that waits for all.
        "side": plan(
            ("p1", "[[script:pause,same_1,done]]", []),
            ("p2", "[[script:same_2,done]]", []),
            ("p3", "[[script:log_three,done]]", []),
            ("p4", "[[script:log_two,done]]", ["p1", "p2", "p3"]),
        ),
        "pause": call("run_command", command="sleep 1"),
        "same_1": appended_to("same", "first"),
        "same_2": appended_to("same", "second"),
        # A plan, and another one that begins at step_1 again.
        "first": plan(("step_1", "[[script:log_one,done]]", []), ("step_2", "[[script:again]]", ["step_1"])),
        "second": "[PLAN]\n1. [ ] [[script:log_two,done]]\n2. [ ] [[script:log_three,done]]",
        # Everything in fences.
        "plan_fenced": f"Here is the plan:\n```json\n{plan(('f1', '[[script:log_fenced,done_fenced,done]]', []))}\n```",
        "log_fenced": f"```json\n{appended('fenced')}\n```",
        "done_fenced": '```json\n{"control": "step_done"}\n```',
        # Other dialects.
        "one_step": plan(("d1", "[[script:thought,openai,hermes,tool_calls,done_thought]]", [])),
        "thought": json.dumps(
            {"thought": "I add a line", "tool": "append_file", "args": {"path": "log", "content": "thought\n"}}
        ),
        "openai": json.dumps({"name": "append_file", "arguments": {"path": "log", "content": "openai\n"}}),
        "hermes": "<tool_call>\n"
        + json.dumps({"name": "append_file", "arguments": {"path": "log", "content": "hermes\n"}})
        + "\n</tool_call>",
        "tool_calls": json.dumps(
            {
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "append_file", "arguments": '{"path": "log", "content": "tool_calls\\n"}'},
                    }
                ]
            }
        ),
        "done_thought": '<think>The step is finished.</think>\n{"control": "step_done"}',
        # Several calls in one reply.
        "pair": f"{appended('first')}\n{call('write_file', path='secrets/k', content='x')}\n{appended('last')}",
        "hermes_pair": "\n".join(
            "<tool_call>\n"
            + json.dumps({"name": "append_file", "arguments": {"path": "log", "content": f"{text}\n"}})
            + "\n</tool_call>"
            for text in ("first", "last")
        ),
        "spy": call("run_command", command="tr '\\0' '\\n' < /proc/$PPID/environ; tr '\\0' '\\n' < /proc/self/environ"),
        # A reply that does not fit, then the file in parts.
        "too_long": call("write_file", path="long", content="".join(LINES)),
        "part_1": call("write_file", path="long", content="".join(PARTS[0])),
        "part_2": call("append_file", path="long", content="".join(PARTS[1])),
        "part_3": call("append_file", path="long", content="".join(PARTS[2])),
        # Children that are left behind.
        "background": call("run_command", command="( sleep 654 & echo $! > child )"),
        "session": call("run_command", command="setsid sleep 655 & echo $! > child"),
        "waits": call("run_command", command="echo $$ > child; setsid sleep 656 & sleep 657"),
        "wait_step": plan(("w1", "[[script:waits]]", [])),
        "again_step": plan(("w2", "[[script:again]]", [])),
        "no_step": plan(("n1", "[[script:done]]", [])),
        # Near-misses where an answer is wanted.
        "near_miss": "I will do it:\n"
        + json.dumps({"thought": "x", "tool": "append_file", "args": {"path": "log", "content": "late"}}),
    }
    found |= {f"read_{number}": call("read_file", path=f"n{number}") for number in range(1, CALLS + 1)}
    found |= {
        f"way_{number}": call("write_file", path=way.format(root=root), content="stolen")
        for number, way in enumerate(WAYS)
    }
    return found
