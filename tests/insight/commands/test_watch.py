"""`ahp watch`: what its screen shows, and what its keys do; in a real terminal, where tmux is there."""

from __future__ import annotations

import io
import os
import pty
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from ahp.cli.main import run
from ahp.insight.commands.watch import Watch
from ahp.journal.append import Journal
from ahp.protocol.event import Actor
from ahp.system import clock, keyboard, terminal
from tests.journal.story import PERSON, Story

SOON = "9 files (warning 2 of 2; the next one is refused)"


@pytest.fixture
def story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Story:
    monkeypatch.chdir(tmp_path)
    return Story(Journal(str(tmp_path / ".ahp")))


def screen(watch: Watch, height: int = 24, width: int = 80) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, force_terminal=False).print(watch.drawn(height, width))
    return out.getvalue().splitlines()


def watching(story: Story, by: Actor = PERSON) -> Watch:
    return Watch(story.journal, by)


def keys(watch: Watch, *pressed: str) -> tuple[bool, int]:
    """What the run ended with, and how often it drew."""
    drawn: list[int] = []
    left = iter(pressed)
    return watch.run(lambda: next(left), lambda: drawn.append(1)), len(drawn)


def test_what_is_about_to_block_stands_first(story: Story) -> None:
    story.signal(rule="size/1", message="9 files (warning 1)")
    story.now += 1
    story.signal(rule="size/2", subject="other", message=SOON)
    story.now += 1
    story.signal(rule="size/3", subject="third", message="9 files (warning 1)")
    lines = screen(watching(story))
    assert lines[1].startswith("open: 3, 1 about to block (!) ─")
    assert lines[2].startswith("▸ ! ") and "size/2  other  claude  9 files" in lines[2]
    assert [line.startswith("lately ─") for line in lines].index(True) == 5
    assert "size/3" in lines[6] and "↑↓ choose" in lines[-1]
    assert max(map(len, lines)) <= 80


def test_names_stand_below_each_other_and_the_chosen_message_is_whole(story: Story) -> None:
    story.signal(rule="a-rule-with-a-long-name/1", subject="分支", message="words " * 20 + "end")
    story.signal(rule="b/1", subject="x" * 40, message="other")
    watch = watching(story)
    watch.chosen = [row.subject for row in watch.now.open].index("分支")
    one, other = screen(watch)[2:4]
    assert cell_len(one.partition("claude")[0]) == cell_len(other.partition("claude")[0])
    assert "x" * 13 + "…" in other + one
    assert screen(watch)[-4].startswith(watch.now.open[watch.chosen].id[:8]) and screen(watch)[-2].endswith("end")
    assert "end" not in "".join(screen(watch, height=15))


def test_that_silence_answered_is_no_answer(story: Story) -> None:
    story.signal()
    story.now += 1
    story.signal(head="b" * 40)
    assert [row.answer for row in watching(story).now.lately] == ["", ""]


def test_what_was_said_on_another_day_has_its_date(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    story.signal()
    watch = watching(story)
    stamp = watch.now.lately[0].at
    for days, shown in ((0, stamp[11:16]), (1, stamp[5:10])):
        monkeypatch.setattr(clock, "now", lambda days=days: clock.parse_iso(stamp) + days * 86400)
        assert screen(watch)[2].startswith(f"▸   {shown} ")


def test_an_empty_log_shows_an_empty_screen(story: Story) -> None:
    watch = watching(story)
    assert screen(watch)[1].startswith("open: 0 ─")
    assert keys(watch, "a", keyboard.ENTER, keyboard.DOWN, "", "q")[0] is False


def test_the_screen_fits_its_height_and_follows_the_choice(story: Story) -> None:
    for n in range(30):
        story.signal(subject=f"s{n}")
    watch = watching(story)
    assert len(screen(watch, height=12)) <= 12
    assert keys(watch, *[keyboard.DOWN] * 40, keyboard.ENTER) == (True, 41)
    assert watch.chosen == 29
    assert any(line.startswith("▸ ") and " s0 " in line for line in screen(watch, height=12))


def test_keys_move_the_choice_and_new_records_are_drawn(story: Story) -> None:
    story.signal(subject="one")
    watch = watching(story)
    left = iter(["", "new", "j", "j", "k", "q"])

    def key() -> str:
        pressed = next(left)
        if pressed == "new":
            story.now += 1
            story.signal(subject="two")
            return ""
        return pressed

    drawn: list[str] = []
    assert watch.run(key, lambda: drawn.append(watch.now.open[watch.chosen].subject)) is False
    assert drawn == ["one", "one", "one", "one", "two"]  # the newer one came in front of the one that was chosen


def test_an_answer_is_asked_for_and_recorded(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    id = story.signal(message="nine\x1b[2J files")
    typed = iter(["because", "a rename is no change"])
    asked: list[str] = []
    monkeypatch.setattr(terminal, "choose", lambda question, offered: asked.append(question) or "1")
    monkeypatch.setattr(terminal, "line", lambda question: next(typed))
    watch = watching(story)
    watch.answer()
    assert watch.said.startswith("acknowledge: size/1 (")
    assert asked[0].endswith("nine\ufffd[2J files")
    assert story.seen(id).action == "acknowledge"
    assert "feedback" in (Path(story.journal.folder) / "signals.jsonl").read_text().splitlines()[-1]


def test_no_answer_records_nothing_and_a_refused_one_is_told(
    story: Story, monkeypatch: pytest.MonkeyPatch, nobody: None
) -> None:
    story.signal("block")
    watch = watching(story)
    monkeypatch.setattr(terminal, "choose", lambda question, offered: "")
    watch.answer()
    assert watch.said == "nothing was recorded"
    monkeypatch.setattr(terminal, "choose", lambda question, offered: "2")
    monkeypatch.setattr(terminal, "line", lambda question: "")
    watch.answer()
    assert "needs a reason" in watch.said
    assert "needs a reason" in screen(watch)[-1]


def test_what_is_not_yours_to_answer_is_not_asked(story: Story) -> None:
    story.signal()
    watch = watching(story, Actor("agent", "other"))
    watch.answer()
    assert "not yours to answer" in watch.said


def test_without_a_terminal_it_says_what_to_use(story: Story, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["watch"]) == 2
    assert "ahp watch needs a terminal; through a pipe: ahp log --open, ahp log" in capsys.readouterr().err


def test_a_terminal_that_only_prints_is_none(
    story: Story, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    assert run(["watch"]) == 2
    assert "which TERM says this is not; elsewhere: ahp log --open, ahp log --follow" in capsys.readouterr().err


def test_keys_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    main, other = pty.openpty()
    monkeypatch.setattr(sys, "stdin", os.fdopen(other, "rb"))
    pressed = {b"\x1b[A": "up", b"\x1bOB": "down", b"\n": "enter", b"\x1b": "escape", b"a": "a", "é".encode(): "é"}
    with keyboard.Keyboard() as keys:
        assert keys.key(0.0) == ""
        for sent, name in pressed.items():
            os.write(main, sent)
            assert keys.key(10.0) == name
        os.write(main, b"\x1b[Aa\x1b[15~")  # typed faster than they are read
        assert [keys.key(10.0), keys.key(0.0), keys.key(0.0), keys.key(0.0)] == ["up", "a", "escape", ""]
        os.close(main)
        with pytest.raises((EOFError, OSError)):
            keys.key(10.0)
        main, other = pty.openpty()  # what it gives back is there no more
        os.dup2(other, keys._fd)


class Tmux:
    """A server of its own with one window of 80 by 24."""

    def __init__(self, folder: Path) -> None:
        self.socket, self.folder = str(folder / "tmux"), folder

    def __call__(self, *arguments: str) -> str:
        command = ["tmux", "-S", self.socket, "-f", os.devnull, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def until(self, text: str) -> str:
        """The screen, once it has `text`."""
        for _ in range(600):
            shown = self("capture-pane", "-p", "-t", "w")
            if text in shown:
                return shown
            time.sleep(0.1)
        raise AssertionError(f"{text!r} did not come:\n{shown}")


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    if not shutil.which("tmux"):
        pytest.skip("tmux is not there")
    made = Tmux(tmp_path)
    yield made
    subprocess.run(["tmux", "-S", made.socket, "kill-server"], capture_output=True, check=False)


@pytest.mark.slow
def test_in_a_real_terminal(story: Story, tmux: Tmux) -> None:
    story.signal(message=SOON)
    script = "from ahp.cli.main import main; main()"
    start = f"env USER=ann {sys.executable} -c '{script}' watch; echo left with $?; cat"
    tmux("new-session", "-d", "-s", "w", "-x", "80", "-y", "24", "-c", str(tmux.folder), start)
    assert "▸ " in tmux.until("open: 1, 1 about to block")
    story.now += 1
    last = story.signal("block", rule="later/1", subject="other", message="no keys here")
    tmux.until("open: 2, 2 about to block")
    tmux("resize-window", "-t", "w", "-x", "70", "-y", "12")  # without another drawing its first lines are gone
    tmux.until("ahp watch")
    tmux("resize-window", "-t", "w", "-x", "80", "-y", "24")
    tmux("send-keys", "-t", "w", "Up", "a")
    assert "later/1 blocks other: no keys here" in tmux.until("[3] abort")
    tmux("send-keys", "-t", "w", "3", "Enter")
    tmux.until("why?")
    tmux("send-keys", "-t", "w", "not mine", "Enter")
    tmux.until("rule's author")
    tmux("send-keys", "-t", "w", "Enter")
    tmux.until("abort: later/1")
    tmux("send-keys", "-t", "w", "q")
    tmux.until("left with 0")
    assert story.seen(last).action == "abort"
