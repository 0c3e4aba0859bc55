from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.agents.shell.command import Command, unknown
from ahp.agents.shell.commands import read


def told(script: str) -> list[str]:
    """Each command on one line: program and arguments, `> file` for redirects, `?` when it is unresolved."""
    return [
        " ".join(
            [*c.assignments, c.program, *c.args, *(f"> {name}" for name in c.redirects), *("?" if c.unresolved else "")]
        ).strip()
        for c in read(script)
    ]


@pytest.mark.parametrize(
    ("script", "commands"),
    [
        ("", []),
        ("git  status\t-s", ["git status -s"]),
        ("/usr/bin/git status", ["git status"]),
        ("'g'it \"sta\"tus", ["git status"]),
        ("git com\\\nmit --no-ver\\ify", ["git commit --no-verify"]),
        ("a && b || c; d | e & f\ng", ["a", "b", "c", "d", "e", "f", "g"]),
        ("(a; { b; }); if c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("while a; do b; done; until c; do d; done", ["a", "b", "c", "d"]),
        ("case x in a) b;; *) c;; esac", ["b", "c"]),
        ("f() { a; }; function g { b; }", ["a", "b"]),
        ("! a; time b; [[ -n $(c) ]]; [ -f d ]; ((e))", ["a", "time b", "b", "c", "[[ -n c", "[ -f d"]),
        ("echo $(a $(b)) `c` <(d) >(e)", ["b", "a $(b) ?", "c", "d", "e", "echo $(a $(b)) `c` <(d) >(e) ?"]),
        ('echo "x $(a) y"', ["a", "echo x $(a) y ?"]),
        ("A=1 B='2 3' env -u C D=4 git x", ["A=1 B=2 3 env -u C D=4 git x", "A=1 B=2 3 D=4 git x"]),
        ("F=-n; git commit $F ${F} \"$F\"", ["F=-n", "git commit $F ${F} $F ?"]),
        ("F='-n -m'; git commit $F \"$F\"", ["F=-n -m", "git commit $F $F ?"]),
        ("F=a; F=b; c $F", ["F=a", "F=b", "c $F ?"]),
        ("F=a; F+=b; c $F", ["F=a", "F=b", "c $F ?"]),
        ("F=; c $F d", ["F=", "c $F d ?"]),
        ("F=a x; c $F", ["F=a x", "c $F ?"]),
        ("export F=a; c $F; unset F", ["F=a export F=a", "c $F ?", "unset F"]),
        ("c ${F:-$(d)} ${#F} $((1+1))", ["d", "c ${F:-$(d)} ${#F} $((1+1)) ?"]),
        ("for i in a; do c $i; done; for j in d e; do c $j; done", ["c $i ?", "c $j ?"]),
        ("for k; do c $k; done", ["c $k ?"]),
        ("for ((i = 0; i < 3; i++)); do c x$i $((i + 1)); done", ["i=0", "c x$i $((i + 1)) ?"]),
        ("f() { c $1; }; f a; f b; g() { d; }", ["c $1 ?", "f a", "f b", "d"]),
        ("declare -x PAGER='c d'", ["PAGER=c d declare -x PAGER=c d"]),
        ("A=(e 'f g'); h \"${A[@]}\"", ["A=(e 'f g')", "h ${A[@]} ?"]),
        ("echo a > f; c $(< f) \"$(b; d)\"", ["echo a > f", "b", "d", "c $(< f) $(b; d) ?"]),
        ("x 2> e 3<&- 1>&2 | y", ["x > e", "y"]),
        ("a{b,c}d {e,{f,g}}", ["{e,{f,g}} ?"]),
        ("c {1..3} *.py", ["c {1..3} *.py ?"]),
        ("c $'a\\n\\x2d\\055\\u002d\\cA\\q\\''", ["c a\\n\\x2d\\055\\u002d\\cA\\q\\' ?"]),
        ('c "a\\$b\\`\\"\\\\\\n"', ["c a$b`\"\\\\n"]),
        ("$X y; gi* z", ["y ?", "z ?"]),
        ("a > b 2>> c 2>&1 >| d < e &> f >&-", ["a > b > c > d > f"]),
        ("> b", ["> b"]),
        ("{ a; b; } > c", ["> c", "a", "b"]),
        ("a > $X", ["a > $X ?"]),
        ("a > .a?p", ["a > .a?p ?"]),
        ("bash -c 'a; b' x", ["bash -c a; b x", "a", "b"]),
        ("sh -ec a; sh -o pipefail -c b", ["sh -ec a", "a", "sh -o pipefail -c b", "b"]),
        ("sh x.sh; sh -c; sh --rcfile a", ["sh x.sh", "sh -c", "sh --rcfile a"]),
        ('sh -c "$X"', ["sh -c $X ?", "?"]),
        ("bash <<'E'\ngit a\nE", ["bash", "git a"]),
        ("bash -s x <<< 'git a'", ["bash -s x", "git a"]),
        ("F=; sh <<< $F; sh <<<", ["F=", "sh", "?", "sh", "?"]),
        ("(a <<< b) | sh", ["a", "sh", "?"]),
        ("sh <<< 'git a' > b; <<< 'git c' sh; > d e", ["sh > b", "git a", "sh", "git c", "e > d"]),
        ("a <<E && b\nx\nE", ["a", "b"]),
        ("echo git a > b | sh; eval \"$X\"", ["echo git a > b", "sh", "?", "eval $X ?", "?"]),
        ("echo git a | sh -", ["echo git a", "sh -", "?"]),
        ("printf '%s %s\\n' git a b c | sh", ["printf %s %s\\n git a b c", "sh", "?"]),
        ("cat <<E | sh\ngit a\nE", ["cat", "sh", "?"]),
        ("cat x <<< y | sh", ["cat x", "sh", "?"]),
        ("eval git 'a;' b; eval", ["eval git a; b", "git a", "b", "eval"]),
        ("trap 'a' EXIT; trap - INT; trap", ["trap a EXIT", "trap - INT", "trap"]),
        ("alias g='git x'", ["alias g=git x"]),
        ("find . -exec a {} \\; -ok b {} +", ["find . -exec a {} ; -ok b {} +"]),
        ("xargs -n 1 git add", ["xargs -n 1 git add", "git add"]),
        ("nice -n5 timeout -k 5 10 git x", ["nice -n5 timeout -k 5 10 git x", "git x"]),
        ("sudo -u me -- git x", ["sudo -u me -- git x", "git x"]),
        (
            "sudo -u me rm x; nice -n5 rm y; timeout 10 rm z",
            ["sudo -u me rm x", "me rm x", "rm x", "nice -n5 rm y", "rm y", "y", "timeout 10 rm z", "rm z"],
        ),
        ("command eval 'sudo rm x'", ["command eval sudo rm x", "eval sudo rm x", "sudo rm x", "rm x"]),
        ("su -c 'git x' me; watch -n 1 git x '>' y", ["su -c git x me", "watch -n 1 git x > y", "git x > y"]),
        ("ssh -p 22 host cd x '&&' git y; git z", ["ssh -p 22 host cd x && git y", "git y", "git z"]),
        ("uv run --with x monoco issue; uv pip; uv", ["uv run --with x monoco issue", "monoco issue", "uv pip", "uv"]),
        ("python3 -m monoco x; python -c y", ["python3 -m monoco x", "monoco x", "python -c y"]),
        ("command -v git; command git x; exec", ["command -v git", "command git x", "git x", "exec"]),
        ("time -p git x; sudo", ["time -p git x", "git x", "sudo"]),
        ("git commit -F - <<'E'\nExplain git x\nE\ngit y", ["git commit -F -", "git y"]),
        ("git commit -m \"$(cat <<'E'\nUse `x`\nE\n)\"", ["git commit -m Use `x`"]),
        ("$(echo git a) b; rm $(printf 'c d')", ["echo git a", "b ?", "printf c d", "rm $(printf 'c d') ?"]),
        ("git commit -m x\r\ngit y\r\n", ["git commit -m x", "git y"]),
        ("git commit -m 'x", ["git commit -m", "?"]),
        ("git commit -m 'x\n", ["git commit -m", "?"]),
        ("a\0b", ["?"]),
        ("登录 'ü' \"é $X\" <<E | sh\nß\nE", ["登录 ü é $X ?", "sh", "?"]),
        ("git commit -m '修复𓀀'", ["git commit -m 修复𓀀"]),
        ("uQ000061Qu uQffffffQu", ["uQ000061Qu uQffffffQu"]),
        ("#!/bin/sh\n# git x\na # git y", ["a"]),
    ],
)  # fmt: skip
def test_the_commands_of_a_script_are_told(script: str, commands: list[str]) -> None:
    assert told(script) == commands


def test_a_folder_is_followed_through_cd_and_left_with_its_shell() -> None:
    script = "cd a && x; (cd b; y); z; cd /c; pushd d; w; cd $E; sh -c 'cd f; u'; eval 'cd g'; v; cd -"
    folders = {c.program: c.folder for c in read(script) if len(c.program) == 1}
    assert folders == {"x": "a", "y": "a/b", "z": "a", "w": "/c/d", "u": "**/f", "v": "**/g"}


def test_the_way_back_is_not_followed() -> None:
    folders = {c.program: c.folder for c in read("cd a; x; cd -; y; cd /b; z; popd; v; cd; w") if len(c.program) == 1}
    assert folders == {"x": "a", "y": "**", "z": "/b", "v": "**", "w": "~"}


def test_a_command_is_a_record_of_the_tool_namespace() -> None:
    assert read("A=b git -C d -c a.b=c commit -nm x f > y")[0].as_fact() == {
        "program": "git",
        "bare": True,
        "verb": "commit",
        "args": ["-C", "d", "-c", "a.b=c", "commit", "-nm", "x", "f"],
        "flags": ["-C", "-c", "-n", "--no-verify", "-m", "--message"],
        "operands": ["f"],
        "assignments": ["A=b"],
        "config": ["a.b=c"],
        "redirects": ["y"],
        "folder": "d",
        "stdin": "",
        "piped": False,
        "paths": ["y"],
        "writes": ["y"],
        "may_write": [],
        "does_nothing": False,
        "unknown": [],
        "unresolved": False,
        "unresolved_at": [],
    }


def test_what_it_reads_is_told() -> None:
    told = [(c.program, c.stdin, c.piped) for c in read("python3 - <<'E'\nprint(1)\nE\na | b; sort <<< \"$X\"")]
    assert told == [("python3", "print(1)\n", False), ("a", "", False), ("b", "", True), ("sort", "", True)]


@pytest.mark.parametrize(
    ("script", "paths", "may_write"),
    [
        ("cat a b/c > d", ["a", "b/c", "d"], []),
        ("cd sub && rm -rf b /tmp/c", ["sub", "sub/b", "/tmp/c"], ["sub/b", "/tmp/c"]),
        ("tool --config=c.toml -fx.y 'a sentence.' https://x.y .", ["c.toml", "x.y", "."], ["c.toml", "x.y"]),
        ("find . -name x -delete", [".", "x"], [".", "x"]),
        ("git -C sub rm f; git checkout main -- a", ["a", "sub/f"], ["a", "sub/f"]),
        ("git add a; git commit -m b; git diff -- c; git restore --staged .", [], []),
    ],
)
def test_the_words_that_may_be_files_are_told(script: str, paths: list[str], may_write: list[str]) -> None:
    found = read(script)
    assert {path for c in found for path in c.paths} == set(paths)
    assert {path for c in found for path in c.may_write} == set(may_write)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "script",
    [
        "(" * 30_000,
        "$(" * 20_000,
        "${a:-" * 10_000,
        "a;" * 30_000,
        "".join(f"{chr(97 + n)}=${chr(96 + n)}${chr(96 + n)};" for n in range(1, 26)) + "a $z",
        "F='" + "x;" * 20_000 + "'; " + "eval $F;" * 3000,
        "F='eval $F'; eval $F",
        "cat <<E\n" * 3000,
        "env " * 12_000 + "git commit -n",
        "A=$(a)$(b)$(c);" * 50 + "B=" + "$A" * 200 + ";" + "c $B $B $B;" * 500,
        "x" * 70_000,
    ],
)
def test_hostile_scripts_end_soon_and_never_pass_for_plain_ones(script: str) -> None:
    commands = read(script)
    assert len(commands) <= 501
    assert any(c.unresolved or c.verb == "commit" for c in commands)


@pytest.mark.parametrize(
    "script",
    [
        "{a,b}" * 1000,
        "\\" * 50_000,
        "\udcff a",
        "a=" * 5000,
        "awk '" + "print " * 10_000 + "'",
        "\U00100011 \U0010ffff",
    ],
)
def test_odd_scripts_end_soon_too(script: str) -> None:
    assert len(read(script)) <= 501


PIECES = ["git", "commit", "-n", "sh", "-c", "eval", "<<E", "\nE\n", "<<<", "$(", "`", ")", "'", '"', "|", "&&", "F="]
PIECES += ["$F", "${F}", "find", "-exec", ";", "{}", "xargs", "env", "-S", "printf", "%s", "trap", "alias x='y'", "cd"]
PIECES += ["A=(", "${A[@]}", "${F#x}", "${F:-", "}", "f() {", "f", "read F", "<(", "| sh", "> f", ". f", "$@", "{a,b}"]
PIECES += [
    "python -c",
    "awk",
    "sed w",
    "tar",
    "make -f -",
    "parallel :::",
    "docker run",
    "cd $(",
    "git config",
    "rebase -x",
]
PIECES += ["(", "a{b,c}", "> f", "2>&1", "for i in", "do", "done", "if", "fi", "\\\n", "$'\\x41'", "[[", "]]", " - <<E"]


@given(
    st.one_of(
        st.text(), st.lists(st.sampled_from(PIECES)).map(" ".join), st.lists(st.sampled_from(PIECES)).map("".join)
    )
)
def test_any_text_is_read_without_an_exception(script: str) -> None:
    assert all(isinstance(command, Command) for command in read(script))


@pytest.mark.parametrize(
    ("script", "writes"),
    [
        ("cd d && echo a > f", {"d/f"}),
        ("a && b || cd d && c > f", {"d/f"}),
        ("ls | grep x > f", {"f"}),
        ("! echo a > f", {"f"}),
        ("cd d && cat <<E > f\na\nE\n", {"d/f"}),
        ("(cd d; echo a) > f", {"f"}),
    ],
)
def test_a_redirect_behind_a_list_is_that_of_its_last_command(script: str, writes: set[str]) -> None:
    assert {path for command in read(script) for path in command.writes} == writes


def test_programs_that_run_another_are_followed_as_far_as_a_few_and_no_further() -> None:
    """Each word behind an option may begin a command; all of their combinations would take for ever."""
    found = read("sudo -x " * 4000 + "rm -rf x")
    assert len(found) == 10 and found[-1] == unknown() and {one.program for one in found[:-1]} == {"sudo"}
