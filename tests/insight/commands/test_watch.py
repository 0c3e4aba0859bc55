"""`ahp watch`: what its screen shows; in a real terminal, where tmux is there."""

from __future__ import annotations

import io
import os
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
from ahp.insight.commands.watch import drawn, snapshot
from ahp.journal.append import Journal
from ahp.system import clock
from tests.journal.story import Story

SOON = "9 files (warning 2 of 2; the next one is refused)"


@pytest.fixture
def story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Story:
    monkeypatch.chdir(tmp_path)
    return Story(Journal(str(tmp_path / ".ahp")))


def screen(story: Story, height: int = 24, width: int = 80) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, force_terminal=False).print(drawn(snapshot(story.journal), height, width))
    return out.getvalue().splitlines()


def test_what_is_about_to_block_stands_first(story: Story) -> None:
    story.signal(rule="size/1", message="9 files (warning 1)")
    story.now += 1
    soon = story.signal(rule="size/2", subject="other", message=SOON)
    story.now += 1
    story.signal(rule="size/3", subject="third", message="9 files (warning 1)")
    lines = screen(story)
    assert lines[1].startswith("open: 3, 1 about to block (!) ─")
    assert lines[2].startswith(f"! {soon[:8]} ") and "size/2  other  claude  9 files" in lines[2]
    assert [line.startswith("lately ─") for line in lines].index(True) == 5
    assert "size/3" in lines[6] and "ahp respond ID" in lines[-1]
    assert max(map(len, lines)) <= 80


def test_names_stand_below_each_other(story: Story) -> None:
    story.signal(rule="a-rule-with-a-long-name/1", subject="分支", message="words")
    story.signal(rule="b/1", subject="x" * 40, message="other")
    one, other = screen(story)[2:4]
    assert cell_len(one.partition("claude")[0]) == cell_len(other.partition("claude")[0])
    assert "x" * 13 + "…" in other + one


def test_that_silence_answered_is_no_answer(story: Story) -> None:
    story.signal()
    story.now += 1
    story.signal(head="b" * 40)
    assert [row.answer for row in snapshot(story.journal).lately] == ["", ""]


def test_what_was_said_on_another_day_has_its_date(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    story.signal()
    id, stamp = snapshot(story.journal).lately[0][:2]
    for days, shown in ((0, stamp[11:16]), (1, stamp[5:10])):
        monkeypatch.setattr(clock, "now", lambda days=days: clock.parse_iso(stamp) + days * 86400)
        assert screen(story)[2].startswith(f"  {id[:8]} {shown} ")


def test_an_empty_log_shows_an_empty_screen(story: Story) -> None:
    assert screen(story)[1].startswith("open: 0 ─")


def test_the_screen_fits_its_height(story: Story) -> None:
    for n in range(30):
        story.signal(subject=f"s{n}")
    lines = screen(story, height=12)
    assert len(lines) == 12
    assert lines[1].startswith("open: 30, 4 shown ─")
    assert " s29 " in lines[2]


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
    start = f"{sys.executable} -c '{script}' watch; echo left with $?; cat"
    tmux("new-session", "-d", "-s", "w", "-x", "80", "-y", "24", "-c", str(tmux.folder), start)
    tmux.until("open: 1, 1 about to block")
    story.now += 1
    last = story.signal("block", rule="later/1", subject="other", message="no keys here")
    assert f"! {last[:8]}" in tmux.until("open: 2, 2 about to block")
    tmux("resize-window", "-t", "w", "-x", "70", "-y", "12")  # without another drawing its first lines are gone
    tmux.until("ahp watch")
    tmux("send-keys", "-t", "w", "C-c")
    tmux.until("left with 0")
