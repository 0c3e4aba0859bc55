"""`debuggers`: statements that stop a program, told from what only looks like one."""

from __future__ import annotations

from typing import Any

import pytest

from ahp.facts import debuggers, syntax
from ahp.facts.gather import gather as gather_facts
from ahp.facts.registry import Absent
from tests.facts.conftest import settings_of

ENDINGS = {"javascript": "a.js", "rust": "a.rs", "go": "a.go"}


def find(path: str, text: str) -> list[tuple[int, str]]:
    return debuggers.statements(syntax.Source(path, text.encode()))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("breakpoint()", [(1, "breakpoint")]),
        ("if x: breakpoint()", [(1, "breakpoint")]),
        ("import pdb; pdb.set_trace()", [(1, "pdb.set_trace")]),
        ("import pdb\npdb.set_trace(header='x')", [(2, "pdb.set_trace")]),
        ("from pdb import set_trace\nset_trace()", [(2, "set_trace")]),
        ("import rpdb; rpdb.set_trace()", [(1, "rpdb.set_trace")]),
        ("import web_pdb; web_pdb.set_trace()", [(1, "web_pdb.set_trace")]),
        ("import IPython; IPython.embed()", [(1, "IPython.embed")]),
        ("from celery.contrib import rdb\nrdb.set_trace()", [(2, "rdb.set_trace")]),
        ("import celery.contrib.rdb\ncelery.contrib.rdb.set_trace()", [(2, "celery.contrib.rdb.set_trace")]),
        ("import debugpy\ndebugpy.listen(1)\ndebugpy.wait_for_client()", [(3, "debugpy.wait_for_client")]),
        ("print 'Python 2'\nif 1: set_trace()  # here", [(2, "set_trace")]),
        ("def f(:\n  breakpoint()", [(2, "breakpoint")]),
    ],
)
def test_python_that_stops(text: str, found: list[tuple[int, str]]) -> None:
    assert find("a.py", text) == found


@pytest.mark.parametrize(
    "text",
    [
        "import pdb\nclass D(pdb.Pdb): pass",  # a library that works with the debugger as a module
        "import pdb\npdb.post_mortem()",
        "from pdb import Pdb",
        "# breakpoint()",
        "x = 'breakpoint()'",
        "def breakpoint(): ...\nbreakpoint()",
        "gdb.breakpoint()",
        "model.embed(x)",
        "self.set_trace(1)",
        "import code\ncode.interact()",
        "(lambda: 0)().set_trace()",
        "print 'Python 2'\n# set_trace()",
    ],
)
def test_python_that_does_not(text: str) -> None:
    assert find("a.py", text) == []


@pytest.mark.slow
def test_an_enormous_file_or_one_that_takes_too_long_is_not_read_and_the_rest_is(
    repo: Any, make_event: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write("a.py", "breakpoint()\n")
    repo.write("b.py", "x = 1\n" * 400_000)
    repo.add()
    _, missing = gather_facts({"debuggers": ["added"]}, make_event(), settings_of())
    absent = missing["debuggers.added"]
    assert absent.reason == "b.py is larger than the 2 MiB whose syntax is read" and absent.unknowable
    assert [one["path"] for one in absent.known or ()] == ["a.py"]
    monkeypatch.setattr(syntax, "_SECONDS", -1.0)
    with pytest.raises(Absent, match="takes over"):
        syntax.Source("a.rb", b'"%(' * 100_000)


@pytest.mark.parametrize(
    ("language", "text", "lines"),
    [
        ("javascript", "debugger", [1]),
        ("javascript", "if (x) debugger;", [1]),
        ("javascript", "x => { debugger }", [1]),
        ("javascript", "/* a\n */ debugger", [2]),
        ("javascript", "const r = /['`]/; debugger", [1]),
        ("javascript", "a = b / c; // `\ndebugger", [2]),
        ("javascript", "x = 'it\\'s'; debugger;", [1]),
        ("javascript", "// debugger\n'debugger'\n`\ndebugger\n`\na.debugger\nlet debuggers", []),
        ("rust", "let a = dbg!(x) + 1;", [1]),
        ("rust", "fn f<'a>(x: &'a str) { dbg!(x); }", [1]),
        ("rust", "'\"'; dbg![1]", [1]),
        ("rust", 'let s = "a\nb"; std::dbg!(s)', [2]),
        ("rust", '// dbg!(x)\n"dbg!(x)" r#"dbg!("x")"# /* /* */ dbg!(x) */ my_dbg!(x)', []),
        ("go", "package main\nfunc f() { fmt.Println(1); runtime.Breakpoint() }", [2]),
        ("go", "package x\n// runtime.Breakpoint()\nvar s = `runtime.Breakpoint(`", []),
    ],
)
def test_other_languages(language: str, text: str, lines: list[int]) -> None:
    assert [line for line, _ in find(ENDINGS[language], text)] == lines


@pytest.mark.slow
@pytest.mark.parametrize("text", ["/* a", "'a", "`a", '"a\\', "/a[", 'r#"a', "/* /* */", "(" * 100_000, '"%(' * 9000])
@pytest.mark.parametrize("path", ["a.py", "a.ts", "a.vue", "a.rs", "a.go", "A.java"])
@pytest.mark.usefixtures("no_hang")
def test_what_is_never_closed_ends(path: str, text: str) -> None:
    assert find(path, text) == []


def test_only_added_lines_count(repo: Any, make_event: Any, gather: Any) -> None:
    repo.commit("first", **{"a.py": "breakpoint()\n", "b.txt": "breakpoint()\n"})
    repo.write("a.py", "x = 1\nbreakpoint()\nbreakpoint()\n")
    repo.write("web/a.ts", "function f() {\n  debugger\n}\n")
    repo.write("b.txt", "breakpoint()\nbreakpoint()\n")
    repo.add()
    found = gather(make_event(), "debuggers.added")["debuggers.added"]
    assert [(one["path"], one["line"], one["name"], one["language"]) for one in found] in (
        [("a.py", 2, "breakpoint", "python"), ("web/a.ts", 2, "debugger", "javascript")],
        [("a.py", 3, "breakpoint", "python"), ("web/a.ts", 2, "debugger", "javascript")],
    )
    assert "debuggers.added" in gather(make_event("pre-tool-use", view=None), "debuggers.added")["missing"]


def test_what_a_linter_is_told_to_let_stand_is_meant(repo: Any, make_event: Any, gather: Any) -> None:
    meant = {
        "a.py": "breakpoint()  # noqa: E501, T100\nbreakpoint()  # noqa: E501\n",
        "a.ts": "// eslint-disable-next-line no-debugger -- a test of it\ndebugger\n\ndebugger\n",
        "a.rs": "#[allow(clippy::dbg_macro)]\nfn f() { dbg!(1); }\n\nfn g() { dbg!(1); }\n",
        "a.go": "package a\nfunc f() {\n\truntime.Breakpoint() //nolint:forbidigo\n\n\truntime.Breakpoint()\n}\n",
    }
    for path, text in meant.items():
        repo.write(path, text)
    repo.add()
    found = gather(make_event(), "debuggers.added")["debuggers.added"]
    assert {one["path"]: one["line"] for one in found} == {"a.py": 2, "a.ts": 4, "a.rs": 4, "a.go": 5}
    assert len(found) == len(meant)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.py", "breakpoint()" + "# noqa: " * 90_000),
        ("a.ts", "debugger;//" + "eslint-disable " * 50_000 + "biome-ignore " * 50_000),
        ("a.rs", "fn f() { dbg!(1); }//" + "allow( " * 100_000),
        ("a.go", "package a; func f() { runtime.Breakpoint() }//" + "//nolint: " * 80_000),
    ],
    ids=["python", "typescript", "rust", "go"],  # a name as long as the line would not fit the environment
)
@pytest.mark.usefixtures("no_hang")
def test_a_line_that_nearly_says_so_is_looked_through_once(
    path: str, line: str, repo: Any, make_event: Any, gather: Any
) -> None:
    repo.write(path, line + "\n")
    repo.add()
    assert [one["path"] for one in gather(make_event(), "debuggers.added")["debuggers.added"]] == [path]
