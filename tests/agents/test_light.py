"""A tool call that no rule speaks of loads nothing that costs milliseconds (design §11, §12)."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from ahp.agents import install
from tests.agents.conftest import found
from tests.conftest import Repo

POLICY = """
rules:
  kinds: {at: pre-tool-use, block: tool.name == 'fetch' and tool.native_name == 'x'}
  paths: {at: pre-tool-use, each: p in tool.writes, block: "glob(p, '*.pem')"}
  keep: {at: pre-tool-use, each: p in tool.protected, block: p.sure}
  lines: {at: pre-tool-use, each: l in diff.added, block: "contains(l.text, 'AKIA')", on_missing: skip}
"""
SPY = """
import posix, sys, marshal
leave = posix._exit
def spy(code):
    posix.write(2, ("\\n".join(sys.modules) + "\\n").encode())
    leave(code)
posix._exit = spy
sys.argv = {argv!r}
exec(marshal.loads(open(sys.argv[0], 'rb').read()[16:]), {{'__name__': '__main__'}})
"""
HEAVY = {"os", "re", "json", "typing", "dataclasses", "enum", "collections", "subprocess", "pydantic", "yaml", "click"}
Call = Callable[..., dict[str, Any]]


@pytest.fixture
def loaded(project: Repo) -> Callable[[dict[str, Any]], set[str]]:
    """The modules that a call has loaded when its hook ends."""
    project.commit("policy", **{".ahp/hooks.yaml": POLICY})
    install.install(found(project), "claude", "")
    lines = (project.root / ".git/ahp/agent-hook").read_text().splitlines()
    baked = {k: (shlex.split(v) or [""])[0] for k, _, v in (line.partition("=") for line in lines) if k.isidentifier()}

    def ask(payload: dict[str, Any]) -> set[str]:
        argv = [baked["bundle"], "agent", baked["folder"], baked["log"], "", baked["git"], "claude", "PreToolUse"]
        command = [baked["python"], "-I", "-S", "-c", SPY.format(argv=argv)]
        for _ in range(3):  # the first compiles the policy, and renews a bundle that is stale
            data = json.dumps(payload).encode()
            done = subprocess.run(command, input=data, capture_output=True, cwd=project.root, check=False)
        assert (done.returncode, done.stdout) == (0, b""), done.stderr
        return set(done.stderr.decode().split())

    return ask


def test_a_quiet_write_loads_only_light_modules(loaded: Callable[..., set[str]], call: Call) -> None:
    names = loaded(call("Write", file_path="a.txt", content="text\n"))
    assert names & HEAVY == set()
    assert names & {"ahp.gate.answer", "ahp.policy.compile", "ahp.agents.shell.commands", "traceback"} == set()
    ours = {name for name in names if name.split(".")[0] == "ahp"}
    assert len(ours) <= 72, sorted(ours)


def test_a_shell_call_loads_the_parser_besides_and_no_policy_reader(
    loaded: Callable[..., set[str]], call: Call
) -> None:
    # Of the second nobody knows what it writes; the third holds a text in a language of its own.
    for command in ("ls", "python -m pytest -q | tail -5", "sed -n 1,5p a.txt && python -c 'print(1)'"):
        names = loaded(call("Bash", command=command))
        assert "ahp.agents.shell.commands" in names
        assert names & {"pydantic", "yaml", "click", "ahp.gate.answer", "ahp.policy.compile"} == set()
        assert names & {"typing", "dataclasses", "inspect", "pathlib", "importlib.resources", "sqlite3"} == set()
        assert names & {"os", "re", "enum"} == set()  # a third of what a shell call takes without them
