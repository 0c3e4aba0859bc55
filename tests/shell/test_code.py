from __future__ import annotations

import pytest

from ahp.shell.code import general


@pytest.mark.parametrize(
    ("text", "scripts", "commands"),
    [
        ("os.system('a b')", ["a b"], []),
        ("subprocess.run(['a', 'b'], check=True)", [], [["a", "b"]]),
        ('import subprocess as s\ns.check_output("a b", shell=True)', ["a b"], []),
        ("os.execvp('a', ['a', 'b'])", [], [["a", "b"]]),
        ("os.system('a' + ' b')", ["a b"], []),
        ("child_process.spawn('a', ['b', 'c'])", [], [["a", "b", "c"]]),
        ('system "a", "b"', [], [["a", "b"]]),
        ("exec 'a b'; x", ["a b"], []),
        ("print `a b`", ["a b"], []),
        ("x = %x(a b)", ["a b"], []),
        ("qx{a b}; qx/c/", ["a b", "c"], []),
        ('do shell script "a b"', ["a b"], []),
        ("app.run('a b')", [], []),
        ("const x = `a b`", [], []),
        ("from os import system", [], []),
        ("print('''a 'b' c''')", [], []),
        ('(ext:run-shell-command "a")', ["a"], []),
    ],
)
def test_what_it_starts_is_told(text: str, scripts: list[str], commands: list[list[str]]) -> None:
    found = general(text)
    assert (found.scripts, found.commands, found.unknown) == (scripts, commands, False)


@pytest.mark.parametrize(
    "text",
    [
        "os.system(x)",
        "exec(x)",
        "eval(input())",
        "getattr(os, 'sys' + 'tem')('a')",
        "__import__('os').system('a')",
        "from os import system as s; s('a')",
        "exec(base64.b64decode('eA=='))",
        "process.binding('spawn_sync')",
    ],
)
def test_what_is_computed_may_be_anything(text: str) -> None:
    assert general(text).unknown


@pytest.mark.parametrize(
    ("text", "reads", "unsure"),
    [
        ("print(open('a.txt').read())", ["a.txt"], []),
        ("open('a.txt', 'w')", [], ["a.txt"]),
        ("open('.a' + 'hp', mode='a')", [], [".ahp"]),
        ('os.remove("d/e")', [], ["d/e"]),
        ("open(F, '>d/e')", [], ["d/e"]),
        ("print('a sentence. and more', 'https://x.test/y')", [], []),
    ],
)
def test_strings_that_look_like_paths_are_files(text: str, reads: list[str], unsure: list[str]) -> None:
    found = general(text)
    assert (found.reads, found.unsure) == (reads, unsure)
