"""`ahp watch`: signals as they come, what is open, what is about to block."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import NamedTuple

import click

from ahp.gate.escalation import NEXT_REFUSED
from ahp.journal import query
from ahp.journal.answers import AUTOMATIC
from ahp.journal.append import Journal
from ahp.journal.episodes import LoggedSignal
from ahp.journal.state import State
from ahp.protocol.text import one_line
from ahp.system import clock
from ahp.system.errors import AhpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rich.console import Group
    from rich.text import Text

_STYLES = {"block": "bold red", "control": "magenta", "prompt": "yellow", "aid": "cyan"}
_EVERY = 0.5  # s between two looks at the log
_HELP = "to answer: ahp respond ID ACTION   to leave: Ctrl-C"
_FRAME = 5  # lines that are neither open nor lately
_WIDE = 100  # columns from which names have more room


@click.command()
def command() -> int:
    """Watch the gate of this repository at a terminal, until interrupted; `ahp respond` answers what it shows."""
    from rich.console import Console

    from ahp.cli.log import journal

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise AhpError("ahp watch needs a terminal; through a pipe: ahp log --open, ahp log --follow")
    if Console().is_dumb_terminal:
        raise AhpError(
            "ahp watch needs a terminal that can draw anew, which TERM says this is not; "
            "elsewhere: ahp log --open, ahp log --follow"
        )
    with contextlib.suppress(KeyboardInterrupt):
        _show(journal())
    return 0


def _show(journal: Journal) -> None:
    """Draws whenever the log or the size of the terminal is another, without an end."""
    from rich.console import Console
    from rich.live import Live

    console, before = Console(highlight=False), None
    with Live(screen=True, auto_refresh=False, console=console) as live:
        while True:
            size = os.get_terminal_size()  # as it is now, whatever COLUMNS and LINES say
            at = query.end(journal.folder), size
            if at != before:
                console.size, before = size, at
                live.update(drawn(snapshot(journal), console.height, console.width), refresh=True)
            time.sleep(_EVERY)


def drawn(now: Snapshot, height: int, width: int = 80) -> Group:
    """The screen at `height` lines of `width` columns."""
    from rich.console import Group
    from rich.rule import Rule
    from rich.text import Text

    rooms = max(2, height - _FRAME)
    shown = now.open[: max(1, rooms * 2 // 3)]
    lately = now.lately[: rooms - max(1, len(shown))]
    columns = _columns([*shown, *lately], width)
    blocking = sum(row.blocks_next for row in now.open)
    head = Text(f"ahp watch   {one_line(os.getcwd(), 60)}", "bold", no_wrap=True, overflow="ellipsis")
    about = f"open: {len(now.open)}" + (f", {blocking} about to block (!)" if blocking else "")
    about += f", {len(shown)} shown" if len(shown) < len(now.open) else ""
    return Group(
        head,
        Rule(about, align="left", style="bold red" if blocking else "dim"),
        *[_line(row, columns, row.blocks_next) for row in shown],
        Rule("lately", align="left", style="dim"),
        *[_line(row, columns) for row in lately],
        Rule(style="dim"),
        Text(_HELP, no_wrap=True, overflow="ellipsis"),
    )


def _columns(rows: list[Row], width: int) -> tuple[int, int, int]:
    """How wide rule, subject and actor are, so that messages stand below each other and have room."""
    from rich.cells import cell_len

    longest = (28, 24, 16) if width >= _WIDE else (18, 14, 8)
    cells = [(row.rule, row.subject, _who(row)) for row in rows]
    wide = [max((cell_len(one_line(one[at])) for one in cells), default=0) for at in range(3)]
    rule, subject, actor = (min(most, long) for most, long in zip(wide, longest, strict=True))
    return rule, subject, actor


def _who(row: Row) -> str:
    return row.actor.partition(":")[2] or row.actor


def _line(row: Row, columns: tuple[int, int, int], is_next: bool = False) -> Text:
    from rich.text import Text

    line = Text(no_wrap=True, overflow="ellipsis")
    line.append("! " if is_next else "  ", "bold red")
    line.append(f"{row.id[:8]} ")
    at = row.at[11:16] if row.at[:10] == clock.iso(clock.now())[:10] else row.at[5:10]  # of another day, which one
    line.append(f"{at} ")
    line.append(f"{row.intensity:7} ", _STYLES.get(row.intensity, ""))
    for text, wide in zip((row.rule, row.subject, _who(row)), columns, strict=True):
        part = Text(one_line(text))
        part.truncate(wide, overflow="ellipsis", pad=True)
        line.append(part.append("  "))
    line.append(f"→ {row.answer}  " if row.answer else "")
    line.append(one_line(row.message), "bold" if row.blocks_next else "dim")
    return line


_LATELY = 50
_SILENCE = ("dismiss", "suggestion_deferred")  # derived, they say that nobody answered


class Row(NamedTuple):
    """A signal that somebody may look at: of an open episode its last one."""

    id: str
    at: str
    intensity: str
    rule: str
    subject: str
    actor: str
    message: str
    answer: str

    @property
    def blocks_next(self) -> bool:
        """Whether the next attempt is refused: the gate has said so, or refused the last one."""
        return self.intensity == "block" or NEXT_REFUSED in self.message


class Snapshot(NamedTuple):
    """The open episodes, those about to block first and then the latest; and the last signals, newest first."""

    open: list[Row]
    lately: list[Row]


def snapshot(journal: Journal) -> Snapshot:
    """As of now. Raises AhpError when the log cannot be read."""
    with State.open(journal) as state:
        opened = [_row(state, signal) for _, signal in state.open_episodes()]
        lately = [_row(state, signal) for signal in state.latest(_LATELY)]
    return Snapshot(sorted(opened, key=lambda row: not row.blocks_next), lately)


def _row(state: State, signal: LoggedSignal) -> Row:
    message = str(state.record(signal).get("message") or "")
    answer = "" if signal.by == AUTOMATIC and signal.action in _SILENCE else signal.action
    about = signal.intensity, signal.rule, signal.subject, signal.actor
    return Row(signal.id, clock.iso(signal.act.at), *about, message, answer)
