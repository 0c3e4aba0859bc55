"""`ahp hook` for an agent's tool call, the process as a client starts it: 100 rules, nothing fires (design §11)."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from ahp.agents.install import command
from bench.commit import Budget
from bench.measure import Broken, Row, interleave, real_time, table
from bench.scratch import EMPTY_PYTHON, Scratch

FLOOR, WRITE, SHELL = "empty Python and git diff-index", "ahp, a write", "ahp, a shell call"
READ, SCRIPT = "ahp, a read", "ahp, a shell call with a script in it"
CALLS: dict[str, tuple[str, dict[str, str]]] = {
    WRITE: ("Write", {"file_path": "src/new.py", "content": "value = 1\n" * 40}),
    READ: ("Read", {"file_path": "src/package_0/module_0.py"}),
    SHELL: ("Bash", {"command": "git status --short && python -m pytest -q tests | tail -5"}),
    SCRIPT: ("Bash", {"command": "sed -n '1,40p' README.md && python -c 'import sys; print(sys.path)'"}),
}
BUDGETS = [
    Budget("a quiet write / empty Python and git diff-index", WRITE, 1.6, FLOOR),
    Budget("a quiet shell call / empty Python and git diff-index", SHELL, 2.0, FLOOR),
    Budget("one with a script / empty Python and git diff-index", SCRIPT, 2.0, FLOOR),
]
_KINDS = (
    "each: p in tool.writes, block: \"glob(p, 'deploy-{n}/**')\"",
    "each: p in tool.protected, block: p.sure and p.path == 'x-{n}'",
    "block: \"tool.name == 'fetch' and contains(tool.command, 'host-{n}')\"",
    "each: c in tool.commands, block: c.program == 'program-{n}'",
    "each: l in diff.added, block: \"contains(l.text, 'word-{n}')\", on_missing: skip",
)


def policy(count: int) -> str:
    """A policy of so many rules for tool calls, over paths, commands and added lines, of which none fires."""
    lines = [f"  rule-{n}: {{at: pre-tool-use, {_KINDS[n % len(_KINDS)].format(n=n)}}}" for n in range(count)]
    return "\n".join(["version: 1", "rules:", *lines, ""])


def rows(scratch: Scratch) -> list[Row]:
    """The floor, and the installed command for each call."""
    ahp = Path(sys.executable).with_name("ahp")

    def prepare(root: Path) -> None:
        (root / ".ahp").mkdir()
        (root / ".ahp/hooks.yaml").write_text(policy(100))
        scratch.run(root, ahp, "install", "claude")

    root = scratch.repository("agent", 500, prepare)
    env = {**scratch.env, "CLAUDE_PROJECT_DIR": str(root)}
    floor = f"{EMPTY_PYTHON.removeprefix('exec ')}; exec git diff-index --cached --quiet HEAD -- .ahp"
    found = [Row(FLOOR, ["/bin/sh", "-c", floor], root, env)]
    hook = command("claude", "PreToolUse")
    for name, (tool, arguments) in CALLS.items():
        told = {"hook_event_name": "PreToolUse", "session_id": "bench", "cwd": str(root), "tool_name": tool}
        call = scratch.folder / f"{name.replace(' ', '-')}.json"
        call.write_text(json.dumps({**told, "tool_use_id": "c", "tool_input": arguments}))
        found.append(Row(name, ["/bin/sh", "-c", f"{hook} < '{call}'"], root, env))
    return found


def _are_quiet(scratch: Scratch, found: list[Row]) -> None:
    """Raises Broken unless each call is judged and none is spoken of."""
    for row in found:
        interleave([row], 0, scratch.output, warm=2)
        if said := scratch.output.read_text(errors="replace"):
            raise Broken(f"{row.name}: a quiet call is not quiet:\n{said}")
    if not (found[0].cwd / ".git/ahp/sessions/bench").exists():
        raise Broken("the calls left nothing in the session's file: was the gate reached?")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.agents", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds: a first look, not a figure")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory(prefix="ahp-bench-") as folder:
        try:
            scratch = Scratch(Path(folder).resolve(), Path(folder))
            found = rows(scratch)
            _are_quiet(scratch, found)
            with real_time():
                interleave(found, 7 if quick else 60, scratch.output)
        except Broken as broken:
            print(f"bench: {broken}", file=sys.stderr)
            return 2
        finally:
            os.chdir(Path(__file__).parent.parent)
    print(table(found, found[0]))
    for budget in BUDGETS:
        told = budget.judge({row.name: row for row in found})
        kept = "kept" if told["kept"] else "NOT KEPT"
        print(f"{told['what']}: limit {budget.limit}, wall {told['wall']:.2f}, CPU {told['cpu']:.2f}: {kept}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
