"""Hooks need no private part of Python: without it, or with another one, they decide the same a little slower."""

from __future__ import annotations

import ast
import functools
import importlib.util
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ahp.agents import install
from ahp.policy import compile as compiling
from tests.hosts.git.gated import Gated, shims
from tests.test_project import modules, parsed

POLICY = """\
version: 1
rules:
  many: {at: pre-commit, block: files.changed_count > 1}
  keep: {at: pre-tool-use, each: c in tool.commands, block: c.program == 'rm'}
"""
# Python's reference tells of them, whatever they are called.
DOCUMENTED = {"__future__", "_thread", "os._exit", "posix._exit"}
GUARDS = {"ImportError", "AttributeError", "TypeError"}

# Runs what follows with the options of hooks, where ahp alone finds PARTS in another state.
WRAPPER = """\
#!/bin/sh
exec {python} -I -S {prelude} "$0" "$@"
"""
PRELUDE = """\
import builtins, marshal, sys
PARTS, STATE, ASKED = {parts!r}, {state!r}, {asked!r}
real = builtins.__import__

def refusing(*given, **named):
    raise TypeError("it takes something else")

class Another:
    def __init__(self, module):
        self.module = module

    def __getattr__(self, name):
        if name.startswith("__") or STATE == "emptied":
            raise AttributeError(name)
        value = getattr(self.module, name)
        return Another(value) if isinstance(value, type(sys)) else refusing if callable(value) else value

def altered(name, globals=None, locals=None, fromlist=(), level=0):
    wanted = PARTS & {{name, *[f"{{name}}.{{one}}" for one in fromlist or ()]}}
    if not wanted or (globals or {{}}).get("__name__", "").partition(".")[0] not in ("ahp", "__main__"):
        return real(name, globals, locals, fromlist, level)
    with open(ASKED, "a") as file:
        print(*wanted, file=file)
    if STATE == "gone":
        raise ImportError(name)
    return Another(real(name, globals, locals, fromlist, level))

builtins.__import__ = altered
sys.executable, *rest = sys.argv[1:]
while rest[0] in ("-I", "-S", "-X"):
    del rest[: 1 + (rest[0] == "-X")]
if rest[0] == "-c":
    code = rest.pop(1)
else:
    with open(rest[0], "rb") as file:
        code = marshal.loads(file.read()[16:])
sys.argv = rest
exec(code, {{"__name__": "__main__"}})
"""


def private(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """The private modules of Python, and the private names of its public ones, where a module takes them."""
    public = set()
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            public |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = str(node.module)
            own = [f"{module}.{alias.name}" for alias in node.names if is_private(alias.name)]
            names = [module] if is_private(module.partition(".")[0]) or is_private(module.rpartition(".")[2]) else own
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in public:
            names = [f"{node.value.id}.{node.attr}"]
        for name in names:
            of_python = is_private(name) or name.partition(".")[0] in sys.stdlib_module_names
            if of_python and any(map(is_private, name.split("."))) and not DOCUMENTED & {name, name.partition(".")[0]}:
                yield name, node


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def guarded(tree: ast.Module) -> set[ast.AST]:
    """All that stands in a `try` that catches whatever a private part that is another one raises."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Try):
            caught = {one.id for handler in node.handlers for one in ast.walk(handler) if isinstance(one, ast.Name)}
            if caught >= GUARDS:
                found |= {inner for part in node.body for inner in ast.walk(part)}
    return found


@functools.cache
def trees() -> dict[str, ast.Module]:
    return {name: parsed(path) for name, path in modules().items()}


@functools.cache
def parts() -> list[str]:
    """The private modules that ahp imports."""
    return sorted({name for tree in trees().values() for name, node in private(tree) if isinstance(node, ast.stmt)})


@pytest.mark.slow
def test_each_private_part_has_a_plain_way_behind_it() -> None:
    assert "_json" in parts()
    open_ = []
    for module, tree in trees().items():
        taken = list(private(tree))
        safe = guarded(tree) if taken else set()
        open_ += [f"{module}: {name}" for name, node in taken if node not in safe]
    assert open_ == []


def test_a_private_part_is_found_wherever_it_stands() -> None:
    tree = ast.parse(
        "import _a, sys, posix, ahp._x\nfrom _b import c\nfrom re import _d, e\nfrom json._f import g\n"
        "def h():\n    sys._i()\n    posix._exit(1)\n    import _thread, importlib._j\n"
    )
    assert [name for name, _ in private(tree)] == ["_a", "_b", "re._d", "json._f", "importlib._j", "sys._i"]


@pytest.mark.slow
@pytest.mark.parametrize("state", ["gone", "emptied", "another"])
def test_without_its_private_parts_the_verdicts_are_the_same(gated: Gated, tmp_path: Path, state: str) -> None:
    gated.commit_policy(POLICY)
    install.install(gated.repository(), "claude", "")
    compiling.build(str(gated.root), str(gated.folder), "")
    asked, prelude, wrapper = tmp_path / "asked", tmp_path / "prelude.py", tmp_path / "python"
    starter = gated.folder / "agent-hook"
    (python,) = set(re.findall("^python=(.*)$", starter.read_text(), re.MULTILINE))
    prelude.write_text(PRELUDE.format(parts=set(parts()), state=state, asked=str(asked)))
    wrapper.write_text(WRAPPER.format(python=python, prelude=prelude))
    wrapper.chmod(0o755)
    for path in (*shims(gated), starter):
        path.write_text(path.read_text().replace(f"python={python}\n", f"python={wrapper}\n"))

    def call(command: str) -> tuple[int, str]:
        told = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(gated.root), "tool_name": "Bash"}
        data = json.dumps({**told, "tool_use_id": "c", "tool_input": {"command": command}}).encode()
        done = gated.run(str(starter), "claude", "PreToolUse", stdin=data)
        return done.returncode, (done.stdout + done.stderr).decode()

    bundles = [gated.folder / "cache" / name for name in ("light.pyc", "agent.pyc")]
    for made in ("by a whole Python", "now", "by this one"):
        if made == "now":
            for bundle in bundles:
                bundle.unlink()
        gated.write("a.txt", made)
        gated.add("a.txt")
        code, said = gated.say("commit", "--quiet", "--message", "x")
        assert (code, said) == (0, ""), said
        gated.write("b.txt", made)
        gated.write("c.txt", made)
        gated.add("b.txt", "c.txt")
        code, said = gated.say("commit", "--quiet", "--message", "x")
        assert code == 1 and "many" in said
        gated.git("reset", "--quiet", "--hard")
        assert call("ls -la | head") == (0, "")
        code, said = call("rm a.txt")
        assert "keep" in said and '"deny"' in said and "bug" not in said
    here = {name for name in parts() if importlib.util.find_spec(name)}
    assert here <= set(asked.read_text().split()), "something has to happen here that asks for the others, too"
