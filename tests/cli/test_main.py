"""The command line as a whole: exit codes, errors, hints."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

import ahp
from ahp import __version__
from ahp.agents.clients import CLIENTS
from ahp.cli import main, start
from ahp.system.errors import AhpError


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main.run(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version")[:2] == (0, f"ahp, version {__version__}\n")


def test_modules_of_the_project_are_not_taken_for_ahps_own(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise SystemExit('the project ran')\n")
    code = "from ahp.cli.start import main; main()"
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code, "--version"], capture_output=True, text=True, env=env, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"ahp, version {__version__}\n"), done.stderr


_SPEAKS = """
import os, sys
from ahp.cli import main, start
main.main = lambda: None
start.main()
print(sys.stdin.read(), "said", sys.stdout.isatty())
print("said", file=sys.stderr)
os.write(9, b"%d\\n" % os.open(".", os.O_RDONLY))
"""


@pytest.mark.parametrize("closed", ["<&- >&-", "<&- 2>&-", "<&- >&- 2>&-"])
def test_what_is_started_without_standard_files_opens_nothing_in_their_place(closed: str) -> None:
    argv = ["sh", "-c", f'"$0" "$@" 9>&1 {closed}', sys.executable, "-c", _SPEAKS]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) > 2


def test_what_is_printed_is_utf_8_whatever_the_locale() -> None:
    told = r"from ahp.cli import main, start; main.main = lambda: print('\u2014 \xfc \udcff'); start.main()"
    env = {**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    for encoding in ("", "latin-1", "utf-16"):
        argv = [sys.executable, "-c", told]
        done = subprocess.run(argv, capture_output=True, env={**env, "PYTHONIOENCODING": encoding}, check=False)
        assert done.stdout.decode() == "\u2014 \xfc \\udcff\n", done.stderr


def test_where_pythonpath_brings_ahp_it_brings_what_ahp_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    here, before = str(Path(ahp.__file__).parents[1]), [*sys.path]
    monkeypatch.setenv("PYTHONPATH", here)
    monkeypatch.setattr(sys, "path", [here, *before])
    monkeypatch.setattr(main, "main", lambda: None)
    start.main()
    assert sys.path == [here, *before]
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    sys.path.insert(0, "/elsewhere")
    start.main()
    assert sys.path == [here, *before]


def test_help_names_every_command_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--help")
    assert code == 0
    for name in ("check", "install", "uninstall", "run", "hook"):
        assert f"\n  {name} " in out
    assert run(capsys, "-h")[1] == out


def test_a_group_lists_its_commands_in_order_with_whole_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    out = " ".join(run(capsys, "policy", "--help")[1].split())
    assert out.index(" lint Check") < out.index(" show Print") < out.index(" test Run")
    assert "with the one in the work tree, rule by rule." in out


def test_the_help_of_install_names_every_host(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "install", "--help")[1]
    assert [one for one in ("git", "monoco", *CLIENTS) if one not in out] == []


def test_every_listed_command_can_be_loaded() -> None:
    context = click.Context(main.cli)
    for name in main.cli.list_commands(context):
        command = main.cli.get_command(context, name)
        assert command is not None
        assert command.name == name
        assert command.help


def test_an_unknown_command_gets_the_nearest_one(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "chek")
    assert code == 2
    assert "did you mean `ahp check`?" in err
    assert "did you mean `ahp policy show`?" in run(capsys, "policy", "shwo")[2]
    assert re.search("No such option:? '?--shwo", run(capsys, "--shwo")[2])
    code, _, err = run(capsys, "zzzzzz")
    assert code == 2
    assert "see `ahp --help`" in err


def test_wrong_usage_is_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "check")[0] == 2
    assert run(capsys, "check", "pre-commit", "--no-such-option")[0] == 2


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (AhpError("what to do"), 2, "ahp: what to do\n"),
        (click.Abort(), 130, ""),
        (BrokenPipeError(), 0, ""),
        (ImportError("no", name="yaml"), 2, "ahp: Python cannot import yaml, which ahp needs (no); fix: "),
        (OSError(errno.ENOSPC, "No space left"), 2, "ahp: standard output cannot be written: No space left\n"),
        (OSError(errno.ENOSPC, "No space left", "a file"), 2, "ahp: a bug in ahp"),
        (OSError(errno.EMFILE, "Too many"), 2, "ahp: too many files are open in this shell; raise the limit: ulimit"),
        (ZeroDivisionError("a bug"), 2, f"ahp: a bug in ahp; please report this:\nahp {__version__}, Python"),
    ],
)
def test_errors_become_words_and_codes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, error: Exception, code: int, said: str
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(main.cli, "main", broken)
    monkeypatch.setattr(main.os, "dup2", lambda *_: None)
    got, _, err = run(capsys, "check")
    assert got == code
    assert err.startswith(said)


def test_a_current_folder_that_is_gone_is_no_bug(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert run(capsys, "check", "pre-commit")[::2] == (2, "ahp: the current folder is gone; go to one that is there\n")


def test_the_entry_point_ends_with_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["ahp", "no-such"])
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert ended.value.code == 2


def test_starting_loads_only_the_command_that_is_asked_for(tmp_path: Path) -> None:
    program = (
        "import sys; from ahp.cli.main import run; run(['--version']); "
        "print(sorted(set(sys.modules) & {'pydantic', 'yaml', 'rich', 'simpleeval', 'sqlite3', 'ahp.policy.compile'}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_what_an_error_quotes_moves_no_cursor(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AhpError("no branch \x1b[2J\u202e\nhttps://ann:secret@example.org")

    monkeypatch.setattr(main.cli, "main", fail)
    assert main.run([]) == 2
    assert capsys.readouterr().err == "ahp: no branch \ufffd[2J\ufffd\nhttps://example.org\n"
