from __future__ import annotations

import pytest

from ahp.agents.shell.languages import read


@pytest.mark.parametrize(
    ("language", "text", "writes", "scripts", "unknown"),
    [
        ("awk", "{print $1}", [], [], False),
        ("awk", '{print > "f"; print >> "g"; print > "/dev/stderr"}', ["f", "g"], [], False),
        ("gawk", 'BEGIN{system("a"); print | "b"; "c" | getline}', [], ["a", "b", "c"], False),
        ("awk", "{system($1)}", [], [], True),
        ("awk", '{"a " $1 | getline}', [], [], True),
        ("awk", '{"a" x "b;c" y | getline z}', [], [], True),
        ("awk", '{print "a" x; "b" | getline}', [], ["b"], False),
        ("sed", "s/a/b/;/x/d", [], [], False),
        ("sed", "w f\n/a/w g\ns/a/b/w h", ["f", "g", "h"], [], False),
        ("sed", "1e a b", [], ["a b"], False),
        ("sed", "e", [], [], True),
        ("sed", "s/a/b/e", [], [], True),
        ("ed", "1d\nw f\n!a b\nq", ["f"], ["a b"], False),
        ("vim", ":silent !a | w! f", ["f"], ["a"], False),
        ("vim", ":shell", [], [], True),
        ("vim", ":term a", [], ["a"], False),
        ("vim", "e f|%d|wq", [], [], False),
        ("emacs", '(shell-command "a")', [], ["a"], False),
        ("emacs", "(shell-command x)", [], [], True),
        ("tclsh", 'file delete -force f\nopen "g" w', ["g"], ["rm -r -force f"], False),
        ("just", "x:\n  @a b\n", [], ["a b"], False),
        ("sqlite3", ".output f\n.shell a b\nselect 1", ["f"], ["a b"], False),
        ("mysql", "select 1 into outfile '/tmp/f'", ["/tmp/f"], [], False),
        ("psql", r"\! a", [], ["a"], False),
        ("lftp", "!", [], [], True),
        ("expect", "spawn a b; interact", [], ["a b"], False),
        ("patch", "--- a/f\t2026\n+++ b/g\n", ["f", "g"], [], False),
        ("git", "--- /dev/null\n+++ b/g\nrename to h\n", ["g", "h"], [], False),
        ("apply_patch", "*** Add File: f\n*** Move to: g\n", ["f", "g"], [], False),
        ("patch", "nothing", [], [], True),
        ("make", "x: y\n\t@a\n\t-b\nz: ; c\nv = $(shell d)\nw != e\n", [], ["a", "b", " c", "d", "e"], False),
        ("package.json", '{"name": "x", "scripts": {"t": "a b", "u": "c"}, "y": {"z": "d"}}', [], ["a b", "c"], False),
        ("composer.json", "{}", [], [], False),
        ("crontab", "# x\n* * * * * a b\n@daily c\n", [], ["a b", "c"], False),
    ],
)
def test_what_a_text_writes_and_runs(
    language: str, text: str, writes: list[str], scripts: list[str], unknown: bool
) -> None:
    found = read(language, text)
    assert (found.writes, found.scripts, found.unknown) == (writes, scripts, unknown)


def test_awk_reads_what_it_names() -> None:
    assert read("awk", 'BEGIN{getline x < "f"}').reads == ["f"]


def test_another_language_is_read_by_its_strings_and_calls() -> None:
    assert read("python3", "os.system('a')").scripts == ["a"]


@pytest.mark.parametrize(
    ("language", "part"),
    [
        ("awk", '"""a'),
        ("python", "'''a"),
        ("python", "porcelain "),
        ("python", "import a, "),
        ("ruby", "%x("),
        ("perl", "qx{"),
        ("ed", "\t"),
        ("sqlite3", "\n"),
        ("make", "$(shell "),
        ("package.json", '"scripts":{'),
    ],
)
@pytest.mark.no_cover
@pytest.mark.usefixtures("no_hang")
def test_a_text_is_looked_through_once(language: str, part: str) -> None:
    read(language, part * (400_000 // len(part)))
