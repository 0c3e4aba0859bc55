from __future__ import annotations

import pytest

from ahp.agents.shell import roles
from ahp.agents.shell.marks import Marks, Unknown
from ahp.agents.shell.usage import Run, Usage


def read(line: str, stdin: str | None = None) -> Usage:
    program, *args = line.split()
    return roles.read(program, args, stdin, Marks())


@pytest.mark.parametrize(
    ("line", "operands", "reads", "writes"),
    [
        ("cp a b c", "a b c", "a b", "c c/a c/b"),
        ("cp -t d a b", "a b", "a b", "d d/a d/b"),
        ("cp -- -a b", "-a b", "-a", "b b/-a"),
        ("mv a b", "a b", "", "a b b/a"),
        ("rsync -e x a h:b", "a h:b", "a", ""),
        ("scp h:a b", "h:a b", "", "b b/h:a"),
        ("chmod u+x a b", "u+x a b", "", "a b"),
        ("chmod --reference=r a", "a", "r", "a"),
        ("grep -e x a b", "a b", "a b", ""),
        ("grep -rn x a", "x a", "a", ""),
        ("sort -o a b", "b", "b", "a"),
        ("sed -i s/a/b/ f", "s/a/b/ f", "", "f"),
        ("sed -e s/a/b/ f", "f", "f", ""),
        ("curl -o f https://x.test/y", "https://x.test/y", "", "f"),
        ("touch -d x a", "a", "", "a"),
        ("truncate -s 0 a", "a", "", "a"),
        ("perl -pi -e x f", "f", "", "f"),
        ("openssl enc -in a -out b", "enc", "a", "b"),
    ],
)
def test_each_word_has_its_role(line: str, operands: str, reads: str, writes: str) -> None:
    found = read(line)
    assert (found.operands, found.reads, found.writes) == (operands.split(), reads.split(), writes.split())


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("timeout -k 5 10 a -b", ("a", "-b")),
        ("nice -n5 a", ("a",)),
        ("env -u X A=1 - a", ("a",)),
        ("sudo -u me A=1 a", ("a",)),
        ("docker run -it --name x img a b", ("a", "b")),
        ("docker run --entrypoint git img commit", ("git", "commit")),
        ("docker run alpine/git:v2 commit", ("git", "commit")),
        ("docker compose exec x a", ("a",)),
        ("kubectl exec p -- a b", ("a", "b")),
        ("python -m a b", ("a", "b")),
        ("npx -p x a b", ("a", "b")),
        ("gcc -wrapper a,b x.c", ("a", "b")),
        ("newrunner -x git commit", ("git", "commit")),
        ("newrunner sh -c a", ("sh", "-c", "a")),
    ],
)
def test_the_command_that_it_runs_is_told(line: str, words: tuple[str, ...]) -> None:
    assert read(line).runs[0].words == words


@pytest.mark.parametrize(
    ("line", "script"),
    [
        ("ssh -p 1 h a b", "a b"),
        ("ssh -o ProxyCommand=a h", "a"),
        ("watch -n 1 a", "a"),
        ("su me -c a", "a"),
        ("flock f -c a", "a"),
        ("tmux send-keys a Enter", "a"),
        ("hg --config alias.x=!a x", "a"),
        ("eval a b", "a b"),
    ],
)
def test_the_text_that_it_runs_is_told(line: str, script: str) -> None:
    assert read(line).runs[0].script == script


@pytest.mark.parametrize(
    ("line", "verb"),
    [
        ("gh pr merge 1", "pr merge"),
        ("gh -R x repo delete y", "repo delete"),
        ("npm i x", "i"),
        ("newtool push x", "push"),
        ("newtool x.y", ""),
        ("docker", ""),
        ("docker compose up -d", "compose up"),
    ],
)
def test_the_verb_is_told(line: str, verb: str) -> None:
    assert read(line).verb == verb


@pytest.mark.parametrize(
    "line",
    ["su", "sudo -s", "chroot /", "python", "node -", "cp /bin/sh x", "newtool --with=/bin/sh"],
)
def test_a_shell_or_a_text_that_nobody_sees_is_unknown(line: str) -> None:
    assert "program" in read(line).places


@pytest.mark.parametrize(
    "line", ["python --version", "crontab -l", "php -i", "command -v x", "su -c x", "sudo x", "env"]
)
def test_what_runs_nothing_hidden_is_not(line: str) -> None:
    assert "program" not in read(line).places


def test_program_text_comes_from_an_option_an_operand_or_the_standard_input() -> None:
    assert [read(line, "x").code for line in ("python", "awk y", "sed -e z", "ed f", "python -", "sqlite3 d")] == [
        "x",
        "y",
        "z",
        "x",
        "x",
        "x",
    ]
    assert (read("python f", "x").code, read("python f").runs[0].file) == ("", "f")


@pytest.mark.parametrize(
    ("program", "origin", "places"),
    [
        ("sed", "outside", {"option"}),
        ("sed", "output", {"option", "program"}),
        ("python", "outside", {"program"}),
        ("source", "outside", {"program"}),
    ],
)
def test_an_unknown_program_text_is_unknown_where_it_can_do_harm(program: str, origin: str, places: set[str]) -> None:
    known = Marks()
    assert roles.read(program, [known.mark(Unknown("$X", origin))], None, known).places >= places - {"option"}


def test_an_unknown_verb_is_an_unknown_program() -> None:
    known = Marks()
    assert "program" in roles.read("docker", [known.mark(Unknown("$X"))], None, known).places


def test_words_are_read_by_what_they_look_like() -> None:
    known = Marks()
    found = roles.read("newtool", ["--config=c.toml", "-o", "d/e", "f.g", known.mark(Unknown("$X"))], None, known)
    assert (found.unsure, found.writes, found.places) == (["c.toml", "f.g"], ["d/e"], {"option", "value"})


def test_a_command_or_a_text_that_it_is_given_is_run() -> None:
    known = Marks()
    assert roles.read("newtool", ["git", "commit"], None, known).runs == [Run(("git", "commit"))]
    assert roles.read("newtool", ["--eval", "a (b)"], None, known).runs == [
        Run(code="a (b)", language="newtool"),
        Run(script="a (b)", stdin=""),
    ]
    assert roles.read("newtool", ["--eval", "db.a(b)"], None, known).runs == [Run(code="db.a(b)", language="newtool")]
