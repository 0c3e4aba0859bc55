"""Timing processes: wall and CPU time of each, medians over interleaved rounds, and tables of them."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles


@dataclass(frozen=True)
class Sample:
    """One run: wall seconds, CPU seconds (user and system, with all waited-for children), exit status."""

    wall: float
    cpu: float
    code: int


@dataclass
class Row:
    """A command that is measured over and over in a state that `reset` brings back, untimed.

    `expect` is the exit status of a right run; any other is a broken measurement, not a slow one.
    """

    name: str
    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str]
    expect: int = 0
    reset: Callable[[], None] = lambda: None
    samples: list[Sample] = field(default_factory=list)

    @property
    def wall_ms(self) -> float:
        return median(sample.wall for sample in self.samples) * 1e3

    @property
    def cpu_ms(self) -> float:
        return median(sample.cpu for sample in self.samples) * 1e3

    @property
    def spread_ms(self) -> tuple[float, float]:
        """First and last decile of the wall time."""
        walls = [sample.wall * 1e3 for sample in self.samples]
        deciles = quantiles(walls, n=10, method="inclusive") if len(walls) > 1 else walls * 9
        return deciles[0], deciles[-1]


class Broken(Exception):
    """A row did not do what it is there to show; the message has what the command printed."""


def run(row: Row, output: Path) -> Sample:
    """One timed run; what it prints goes to `output`, because a pipe would need a reader at the same time.

    Raises Broken when the exit status is not the one the row expects.
    """
    argv = list(row.argv)
    os.chdir(row.cwd)
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(output), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    begun = time.perf_counter()
    pid = os.posix_spawnp(argv[0], argv, dict(row.env), file_actions=actions)
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - begun
    sample = Sample(wall, usage.ru_utime + usage.ru_stime, os.waitstatus_to_exitcode(status))
    if sample.code != row.expect:
        said = output.read_text(errors="replace")[-2000:]
        raise Broken(f"{row.name}: {' '.join(argv)} exited with {sample.code}, not {row.expect}:\n{said}")
    return sample


def interleave(rows: Sequence[Row], rounds: int, output: Path, warm: int = 2) -> None:
    """`rounds` samples of every row, a round of all rows at a time, so that a busy moment hits all alike.

    The order within a round is shuffled (seeded): no row always runs in another's wake. `warm` rounds are thrown away.
    """
    order = list(rows)
    shuffle = random.Random(0).shuffle
    for number in range(-warm, rounds):
        shuffle(order)
        for row in order:
            row.reset()
            sample = run(row, output)
            if number >= 0:
                row.samples.append(sample)


@contextmanager
def real_time(wanted: bool = True) -> Iterator[str]:
    """Run this process and its children as `chrt -f 1` would, where permitted. Gives the name of the class it got.

    On a busy machine plain wall times say nothing: an empty Python start has shown 413 ± 533 ms.
    """
    before = os.sched_getscheduler(0) if hasattr(os, "sched_getscheduler") else None
    try:
        if before is None or not wanted:
            raise PermissionError
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        yield "the normal class: compare CPU times and ratios, not wall times"
        return
    try:
        yield "the real-time class (chrt -f 1)"
    finally:
        os.sched_setscheduler(0, before, os.sched_param(0))


def ratio(row: Row, base: Row) -> tuple[float, float]:
    """How many times the wall and the CPU time of `base` a row takes: the median over rounds of the ratio in a round.

    The two samples of a round stand close together in time, so a machine that slows down for a while slows both.
    """
    pairs = list(zip(row.samples, base.samples, strict=True))
    return median(mine.wall / its.wall for mine, its in pairs), median(mine.cpu / its.cpu for mine, its in pairs)


def table(rows: Sequence[Row], base: Row) -> str:
    """The rows with their medians in milliseconds and their ratios to `base`, for a person."""
    width = max(len(row.name) for row in rows)
    lines = [f"{'':{width}}    wall ms  (p10 .. p90)        CPU ms   x wall  x CPU"]
    for row in rows:
        low, high = row.spread_ms
        wall, cpu = ratio(row, base)
        spread = f"({low:.1f} .. {high:.1f})"
        lines.append(f"{row.name:{width}}  {row.wall_ms:9.1f}  {spread:<18} {row.cpu_ms:8.1f}  {wall:7.2f}  {cpu:5.2f}")
    lines.append(f"{'':{width}}  x: times '{base.name}'")
    return "\n".join(lines)


def as_json(row: Row) -> dict[str, object]:
    """A row for `--json`: milliseconds, with every sample."""
    return {
        "name": row.name,
        "wall_ms": row.wall_ms,
        "cpu_ms": row.cpu_ms,
        "wall_samples_ms": [sample.wall * 1e3 for sample in row.samples],
        "cpu_samples_ms": [sample.cpu * 1e3 for sample in row.samples],
    }
