"""`ahp watch`: signals as they come, what is open, what is about to block; answers are given from it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import NamedTuple

import click

from ahp.gate.escalation import NEXT_REFUSED
from ahp.journal import query
from ahp.journal.answers import AUTOMATIC
from ahp.journal.append import Journal
from ahp.journal.episodes import LoggedSignal
from ahp.journal.respond import fitting, possible, respond
from ahp.journal.state import State
from ahp.protocol.event import Actor, identify
from ahp.protocol.text import one_line
from ahp.system import clock, environ, keyboard, terminal
from ahp.system.errors import AhpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rich.console import Group, RenderableType

_STYLES = {"block": "bold red", "control": "magenta", "prompt": "yellow", "aid": "cyan"}
_EVERY = 0.5  # s between two looks at the log
_KEYS = "↑↓ choose   a answer   q quit"
_FRAME = 6  # lines that are neither open nor lately
_MESSAGE = 2  # lines of the chosen signal's message, where the screen has _TALL ones
_TALL = 16
_RESIZED = "resized"  # no key, but the screen has another size now
_WIDE = 100  # columns from which names have more room


@click.command()
def command() -> int:
    """Watch the gate of this repository at a terminal, and answer what it says."""
    from rich.console import Console

    from ahp.cli.log import journal

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise AhpError("ahp watch needs a terminal; through a pipe: ahp log --open, ahp log --follow")
    if Console().is_dumb_terminal:
        raise AhpError(
            "ahp watch needs a terminal that can draw anew, which TERM says this is not; "
            "elsewhere: ahp log --open, ahp log --follow"
        )
    watch = Watch(journal(), identify(environ.current()))
    try:
        while watch.shown():
            watch.answer()
    except (KeyboardInterrupt, EOFError):
        pass
    return 0


class Watch:
    """The screen, and which of the open episodes is chosen on it."""

    def __init__(self, journal: Journal, by: Actor) -> None:
        self.journal, self.by = journal, by
        self.now = snapshot(journal)
        self.chosen = 0
        self.said = ""
        self._seen = query.end(journal.folder)

    def shown(self) -> bool:
        """Shows the screen until somebody wants to answer (True) or to leave (False)."""
        from rich.console import Console
        from rich.live import Live

        console = Console(highlight=False)

        def draw() -> None:
            console.size = os.get_terminal_size()  # as it is now, whatever COLUMNS and LINES say
            live.update(self.drawn(console.height, console.width), refresh=True)

        def key() -> str:
            return keys.key(_EVERY) or (_RESIZED if tuple(console.size) != tuple(os.get_terminal_size()) else "")

        with keyboard.Keyboard() as keys, Live(screen=True, auto_refresh=False, console=console) as live:
            return self.run(key, draw)

    def run(self, key: Callable[[], str], draw: Callable[[], None]) -> bool:
        """Draws whenever something changed, and does what the keys say; as `shown`."""
        draw()
        while True:
            pressed = key()
            if pressed == "q":
                return False
            if pressed in ("a", keyboard.ENTER) and self.now.open:
                return True
            step = {keyboard.UP: -1, "k": -1, keyboard.DOWN: 1, "j": 1}.get(pressed, 0)
            if self._look() or step or pressed:
                self.chosen = max(0, min(self.chosen + step, len(self.now.open) - 1))
                draw()

    def _look(self) -> bool:
        """Takes up what the log has more; whether there was any."""
        end = query.end(self.journal.folder)
        if end == self._seen:
            return False
        before = self.now.open[self.chosen].id if self.now.open else ""
        self._seen, self.now = end, snapshot(self.journal)
        # The choice stays with the episode that somebody is about to answer, wherever it stands now.
        self.chosen = next((nth for nth, row in enumerate(self.now.open) if row.id == before), self.chosen)
        return True

    def answer(self) -> None:
        """Asks, outside the screen, for the answer to the chosen signal, and records it."""
        row = self.now.open[self.chosen]
        waiting = [signal for signal in fitting(self.journal, self.by) if signal.id == row.id]
        actions = possible(waiting[0], self.by) if waiting else []
        offered = {str(nth): action for nth, action in enumerate(actions, 1)}
        if not offered:
            self.said = f"{row.id[:8]} has been answered, or is not yours to answer"
            return
        question = f"{one_line(row.rule)} {row.intensity}s {one_line(row.subject)}: {one_line(row.message, 400)}"
        picked = terminal.choose(question, {**offered, "": "no answer"})
        if not picked:
            self.said = "nothing was recorded"
            return
        reason = terminal.line("why? (one line, may be empty)") or ""
        feedback = terminal.line("what should the rule's author know? (may be empty)") or ""
        try:
            self.said = respond(self.journal, row.id, offered[picked], self.by, reason, feedback).told
        except AhpError as error:
            self.said = str(error)
        self._look()

    def drawn(self, height: int, width: int = 80) -> Group:
        """The screen at `height` lines of `width` columns."""
        from rich.console import Group
        from rich.rule import Rule
        from rich.text import Text

        message = _MESSAGE if height >= _TALL and self.now.open else 0
        rooms = max(2, height - _FRAME - message)
        first = min(len(self.now.open), max(1, rooms * 2 // 3))
        begin = max(0, min(self.chosen - first + 1, len(self.now.open) - first))
        shown, lately = self.now.open[begin : begin + first], self.now.lately[: rooms - first]
        columns = _columns([*shown, *lately], width)
        blocking = sum(row.blocks_next for row in self.now.open)
        head = Text(f"ahp watch   {one_line(os.getcwd(), 60)}", "bold", no_wrap=True, overflow="ellipsis")
        about = f"open: {len(self.now.open)}" + (f", {blocking} about to block (!)" if blocking else "")
        about += f", {first} shown" if first < len(self.now.open) else ""
        parts: list[RenderableType] = [head, Rule(about, align="left", style="bold red" if blocking else "dim")]
        for nth, row in enumerate(shown, begin):
            parts.append(_line(row, columns, nth == self.chosen, row.blocks_next))
        parts.append(Rule("lately", align="left", style="dim"))
        parts += [_line(row, columns) for row in lately]
        if message:
            row = self.now.open[self.chosen]
            named = "  ".join(one_line(part, 40) for part in (row.id[:8], row.rule, row.subject, row.actor))
            parts += [Rule(named, align="left", style="dim"), _wrapped(row.message, width, message)]
        else:
            parts.append(Rule(style="dim"))
        parts.append(Text(self.said or _KEYS, no_wrap=True, overflow="ellipsis"))
        return Group(*parts)


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


def _line(row: Row, columns: tuple[int, int, int], is_chosen: bool = False, is_next: bool = False) -> RenderableType:
    from rich.text import Text

    line = Text("▸ " if is_chosen else "  ", "reverse" if is_chosen else "", no_wrap=True, overflow="ellipsis")
    line.append("! " if is_next else "  ", "bold red")
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


def _wrapped(message: str, width: int, height: int) -> RenderableType:
    """A message on `height` lines, no more and no fewer."""
    from rich.console import Console
    from rich.text import Text

    lines = Text(one_line(message, width * height)).wrap(Console(width=width), width)[:height]
    return Text("\n").join([*lines, *[Text()] * (height - len(lines))])


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
