"""The person at the terminal: one question on /dev/tty, never on standard input; tables and progress (design §9, §10).

rich draws, and is imported only when a person looks on: hooks, pipes and files never wait for it.
"""

import os
import select
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from ahp.system import environ
from ahp.system.errors import AhpError

_PATIENCE = 30.0
_CONSIDERATION = 600.0
_NARROW = 32  # columns of a terminal, for the last one of a table
_UNSEEN = 2.0  # s of work without a bar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rich.progress import Progress
_LONGEST = 1_000  # bytes of what is typed


def table(
    rows: Iterable[Sequence[str]],
    titles: Sequence[str] = (),
    *,
    numbers: Sequence[int] = (),
    styles: "Mapping[str, str] | None" = None,
    indent: int = 0,
) -> None:
    """Prints rows of cells on standard output, the columns `numbers` to the right.

    At a terminal the last column wraps inside its own edges, or, where that leaves it too little and there are no
    titles, below the others; a cell that is a key of `styles` is drawn in that style (in rich's words, like "bold
    red"). Elsewhere each row is one line of any length, columns apart by two blanks.
    Nothing in a cell is markup, and what would move the cursor is made visible.
    """
    cells = [[_visible(cell) for cell in row] for row in ([titles] if titles else [])]
    cells += [[_visible(cell) for cell in row] for row in rows]
    if cells and sys.stdout.isatty():
        _draw(cells, bool(titles), numbers, styles or {}, indent)
        return
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        padded = [cell.rjust(widths[at]) if at in numbers else cell.ljust(widths[at]) for at, cell in enumerate(row)]
        print(" " * indent + "  ".join(padded).replace("\n", " ").rstrip())


def prose(text: str, indent: int = 0) -> str:
    """`text` as lines that fit the terminal, the later ones two columns further in; through a pipe it stays one line.

    Not for commands: what is copied out of it has the line ends.
    """
    if not sys.stdout.isatty():
        return text
    width = max(shutil.get_terminal_size().columns - indent, 20)
    return textwrap.fill(text, width, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)


def _draw(cells: list[list[str]], titled: bool, numbers: Sequence[int], styles: Mapping[str, str], indent: int) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if not titled and indent + _least(cells) > console.width:
        for *row, last in cells:
            head = Text("  ").join([Text(cell, styles.get(cell.strip(), "")) for cell in row if cell.strip()])
            console.print(Padding(head, (0, 0, 0, indent)))
            console.print(Padding(Text(last, styles.get(last.strip(), "")), (0, 0, 0, indent + 2)))
        return
    drawn = Table.grid(padding=(0, 2, 0, 0))
    for at in range(len(cells[0])):
        drawn.add_column(justify="right" if at in numbers else "left", overflow="fold")
    for number, row in enumerate(cells):
        style = "bold" if titled and not number else ""
        drawn.add_row(*[Text(cell, styles.get(cell.strip(), style)) for cell in row])
    console.print(Padding(drawn, (0, 0, 0, indent)))


def _least(cells: list[list[str]]) -> int:
    """The width below which more than the last column of a table has to wrap, or that one into single words."""
    from rich.cells import cell_len

    columns = zip(*cells, strict=True)
    *widths, last = [max(cell_len(line) for cell in column for line in cell.split("\n")) for column in columns]
    return sum(width + 2 for width in widths) + min(last, _NARROW)


def _visible(text: str) -> str:
    return "".join([c if c.isprintable() or c == "\n" else "\ufffd" for c in text])


Seen = Callable[[int, int], None]
"""Is told how much of a long work is done, and of how much."""


def unseen(done: int, total: int) -> None:
    """Nobody looks on."""


@contextmanager
def progress(label: str) -> Iterator[Seen]:
    """Tells a person at a terminal, on standard error, how far it is: call it with what is done and the total.

    Nothing is shown of what takes less than two seconds.
    """
    if not sys.stderr.isatty():
        yield unseen
        return
    bar = _Bar(label)
    try:
        yield bar.advance
    finally:
        bar.end()


class _Bar:
    """A progress bar that shows itself once something has taken two seconds."""

    def __init__(self, label: str) -> None:
        self._label, self._begin = label, time.monotonic() + _UNSEEN
        self._shown: Progress | None = None

    def advance(self, done: int, total: int) -> None:
        if self._shown is None and time.monotonic() >= self._begin:
            self._shown = _started()
            self._shown.add_task(self._label, total=None)
        if self._shown is not None:
            self._shown.update(self._shown.task_ids[0], completed=done, total=total)

    def end(self) -> None:
        if self._shown is not None:
            self._shown.stop()


def _started() -> "Progress":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    parts = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    made = Progress(*parts, console=Console(stderr=True), transient=True)
    made.start()
    return made


def confirm(question: str, command: str) -> bool:
    """A person's yes or no to what is theirs alone to decide. Raises AhpError where nobody can be asked.

    `command` is what to type in a terminal; no option and no variable takes the place of one. Below a tool of
    `ahp agent` nobody is asked: a model can drop the marks from the environment of a command, and give it a terminal.
    """
    from ahp.system import descendants

    if have(descendants.MARK):
        raise AhpError(f"this needs a person's answer, which `ahp agent` cannot give; run in a terminal: {command}")
    answer = ask(question, _CONSIDERATION)
    if answer is None:
        raise AhpError(f"this needs a person's answer; run in a terminal: {command}")
    return answer


def attended() -> bool:
    """Whether a person at a terminal started this: the one of this process, and in its foreground."""
    fd = _terminal()
    if fd is not None:
        os.close(fd)
    return fd is not None


def ask(question: str, patience: float = _PATIENCE) -> bool | None:
    """The answer to a yes-or-no question: True, False, or None when nobody can be asked or answers in time (seconds).

    Asks only when this process group is in the terminal's foreground: a background job would be stopped by reading.
    """
    typed = line(f"{question} [y/N]", patience)
    return None if typed is None else typed.lower() in ("y", "yes")


def choose(question: str, choices: Mapping[str, str]) -> str | None:
    """The key of `choices` (a letter each, "" for none, and what it does) that a person types, or what it does in full.

    None when nobody answers in time.
    """
    offered = ", ".join(f"[{key or 'Enter'}] {told}" for key, told in choices.items())
    words = {told.lower(): key for key, told in choices.items()}
    while (typed := line(f"{question}\n{offered}?")) is not None:
        picked = words.get(typed.lower(), typed.lower())
        if picked in choices:
            return picked
        question = f"{typed[:40]!r} is none of these:"
    return None


def line(question: str, patience: float = _CONSIDERATION) -> str | None:
    """The line that a person types, without white space around it; None when nobody can be asked or answers in time."""
    fd = _terminal()
    if fd is None:
        return None
    try:
        os.write(fd, f"{question} ".encode())
        return _answer(fd, time.monotonic() + patience)
    except OSError:
        return None
    finally:
        os.close(fd)


def _terminal() -> int | None:
    """A descriptor of this process's terminal; None without one, and in the background."""
    try:
        fd = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError:
        return None
    try:
        if os.tcgetpgrp(fd) == os.getpgrp():
            return fd
    except OSError:  # hung up
        pass
    os.close(fd)
    return None


def _answer(fd: int, deadline: float) -> str | None:
    typed = b""
    while b"\n" not in typed and len(typed) < _LONGEST:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            os.write(fd, b"\n")
            return None
        part = os.read(fd, 100)
        if not part:
            return None
        typed += part
    return typed.decode("utf-8", "replace").strip()


_DEEPEST = 100


def have(variable: str) -> bool:
    """Whether a process above this one was started with a value of `variable`.

    A program can drop a variable from its own environment, but not from that of the shell that started it. What cannot
    be read (another user's process, another system than Linux) tells nothing.
    """
    wanted = os.fsencode(variable) + b"="
    blocks = [environ.told(pid, "environ").split(b"\0") for pid in _above(os.getpid())]
    return any(part.startswith(wanted) and part != wanted for block in blocks for part in block)


def commands() -> Iterator[list[str]]:
    """The command lines of the processes above this one, the nearest first; an empty one where it cannot be read."""
    return map(environ.arguments, _above(os.getpid()))


def _above(pid: int) -> Iterator[int]:
    for _ in range(_DEEPEST):
        # The name of the program stands in brackets, and may hold any.
        told = environ.told(pid, "stat").rpartition(b")")[2].split()
        pid = int(told[1]) if told else 0
        if pid <= 1:
            return
        yield pid
