"""`git commit` end to end: 500 tracked files, 20 staged, behind one hook after the other."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import scratch as places
from bench.measure import Broken, Row, interleave, ratio, table
from bench.scratch import Scratch


@dataclass(frozen=True)
class Budget:
    """A claim of the kind `row` <= `factor` x `base`, or `row` <= `milliseconds`."""

    what: str
    row: str
    limit: float
    base: str | None = None

    def judge(self, rows: dict[str, Row]) -> dict[str, object]:
        """The figures and whether they keep the budget; CPU time is shown beside, the wall time decides."""
        row = rows[self.row]
        wall, cpu = ratio(row, rows[self.base]) if self.base else (row.wall_ms, row.cpu_ms)
        return {"what": self.what, "limit": self.limit, "wall": wall, "cpu": cpu, "kept": wall <= self.limit}


NONE, SH, EMPTY = "no hook", "sh exit 0", "empty Python hook"
QUIET, BLOCK = "ahp, 30 rules, nothing fires", "ahp, one block"
PRE_COMMIT, PREK = "pre-commit, one no-op hook", "prek, one no-op hook"
PREK_THREE = "prek, the same three hooks"
BLOCK_HOOK, PRE_COMMIT_RUN = "ahp, one block, the hook alone", "pre-commit run, the process alone"

BUDGETS = [
    Budget("a quiet commit / the empty Python hook", QUIET, 1.2, EMPTY),
    Budget("a quiet commit / prek", QUIET, 1.0, PREK),
    Budget("a quiet commit / prek with three hooks", QUIET, 0.55, PREK_THREE),
    Budget("a blocked commit / pre-commit", BLOCK, 0.5, PRE_COMMIT),
    Budget("a firing rule, the process / pre-commit run", BLOCK_HOOK, 0.5, PRE_COMMIT_RUN),
    Budget("a firing rule, the process, ms", BLOCK_HOOK, 60.0),
]


LARGE = 5_000  # tracked files
LARGE_QUIET, LARGE_PREK = f"{LARGE:,} files: ahp, 30 rules", f"{LARGE:,} files: {PREK}"
BUDGETS_OF_SIZE = [Budget(f"a quiet commit of {LARGE:,} files / prek", LARGE_QUIET, 0.85, LARGE_PREK)]


def floors(scratch: Scratch) -> list[Row]:
    """What git and a hook cost before anybody judges."""
    return [
        scratch.commit(NONE, places.no_hook),
        scratch.commit(SH, places.hooks(pre_commit="exit 0")),
        scratch.commit(EMPTY, places.hooks(pre_commit=places.EMPTY_PYTHON)),
        scratch.commit(
            "empty Python hook, two more of sh",
            places.hooks(pre_commit=places.EMPTY_PYTHON, commit_msg="exit 0", post_commit="exit 0"),
        ),
    ]


def peers(scratch: Scratch) -> list[Row]:
    """pre-commit and prek with one no-op hook, and pre-commit without git around it."""
    rows = [
        scratch.commit(PRE_COMMIT, places.peer(scratch, "pre-commit")),
        scratch.commit(PREK, places.peer(scratch, "prek")),
        scratch.commit(PREK_THREE, places.peer(scratch, "prek", "pre-commit", "commit-msg", "post-commit")),
    ]
    for row in rows:
        _says(scratch, row, "Passed")
    rows.append(_process(rows[0], PRE_COMMIT_RUN, [str(scratch.peers / "pre-commit"), "run"]))
    return rows


def ours(scratch: Scratch) -> list[Row]:
    """ahp with all its shims: quiet, blocking, and what reading more than the bench policy costs."""
    quiet = scratch.commit(QUIET, places.ahp(scratch, places.policy("quiet")))
    block = scratch.commit(BLOCK, places.ahp(scratch, places.policy("block")), expect=1)
    more = [
        scratch.commit("ahp, rules on the message too", places.ahp(scratch, places.policy("message"))),
        scratch.commit("ahp, every changed file measured", places.ahp(scratch, places.policy("sizes"))),
        scratch.commit("ahp, every added line read", places.ahp(scratch, places.policy("diff"))),
        scratch.commit("ahp, every added line matched", places.ahp(scratch, places.policy("regex"))),
    ]
    for row in [quiet, *more]:
        _is_judged(scratch, row)
    _says(scratch, block, "too-many-files")
    return [quiet, block, *more, _process(block, BLOCK_HOOK, [".git/hooks/pre-commit"], expect=1)]


def _process(commit: Row, name: str, argv: Sequence[str], expect: int = 0) -> Row:
    """The same repository and state, but this program instead of `git commit`."""
    return Row(name, argv, commit.cwd, commit.env, expect, commit.reset)


def _says(scratch: Scratch, row: Row, word: str) -> None:
    """Raises Broken unless the hook of the row is reached and prints `word`."""
    interleave([row], 0, scratch.output, warm=1)
    said = scratch.output.read_text(errors="replace")
    if word not in said:
        raise Broken(f"{row.name}: '{word}' is not in what the commit printed:\n{said}")
    row.reset()


def _is_judged(scratch: Scratch, row: Row) -> None:
    """Raises Broken unless each commit is quiet and leaves a trace in the log: a row without a gate would be fast."""
    log = row.cwd / ".git/ahp/signals.jsonl"
    for _ in range(2):
        before = log.stat().st_size if log.exists() else 0
        interleave([row], 0, scratch.output, warm=1)
        said = scratch.output.read_text(errors="replace")
        if not log.exists() or log.stat().st_size <= before:
            raise Broken(f"{row.name}: the commit left nothing in {log}: was the gate reached?\n{said}")
    if said:
        raise Broken(f"{row.name}: a quiet commit is not quiet:\n{said}")
    row.reset()


def sizes(scratch: Scratch, quick: bool) -> list[list[Row]]:
    """Against the number of tracked files: one group of rows a size, so that each is compared with its own floor."""
    return [
        [
            scratch.commit(f"{files:,} files: {name}", prepare, files=files)
            for name, prepare in (
                (NONE, places.no_hook),
                (EMPTY, places.hooks(pre_commit=places.EMPTY_PYTHON)),
                ("ahp, 30 rules", places.ahp(scratch, places.policy("quiet"))),
                (PREK, places.peer(scratch, "prek")),
            )
        ]
        for files in ([LARGE] if quick else [2_000, LARGE, 10_000])
    ]


def _rules(count: int) -> str:
    """A policy of so many rules, all over the same facts, of which none fires."""
    lines = (f"  rule-{n}: {{at: pre-commit, block: files.changed_count > {1000 + n}}}" for n in range(count))
    return "\n".join(["version: 1", "rules:", *lines, ""])


def rules(scratch: Scratch, quick: bool) -> list[Row]:
    """Against the number of rules."""
    counts = [30, 300] if quick else [30, 300, 3_000]
    return [scratch.commit(f"ahp, {count:,} rules", places.ahp(scratch, _rules(count))) for count in counts]


def cold_starts(scratch: Scratch, quick: bool) -> list[Row]:
    """The first commit after the policy changed, which compiles it within the hook: between two runs the cache goes."""
    rows = []
    for count in [30, 300] if quick else [30, 300, 1_000]:
        row = scratch.commit(f"ahp, {count:,} rules, not compiled", places.ahp(scratch, _rules(count)))
        row.reset = _forgetting(row)
        _is_judged(scratch, row)
        rows.append(row)
    return rows


def _forgetting(row: Row) -> Callable[[], None]:
    reset = row.reset

    def forget() -> None:
        reset()
        shutil.rmtree(row.cwd / ".git/ahp/cache", ignore_errors=True)

    return forget


def log_lengths(scratch: Scratch, quick: bool) -> list[Row]:
    """Against the length of the log, filled through the journal with copies of what a quiet commit writes."""
    rows = []
    for length in [0, 10_000] if quick else [0, 10_000, 1_000_000]:
        row = scratch.commit(f"ahp, a log of {length:,} lines", places.ahp(scratch, places.policy("quiet")))
        _is_judged(scratch, row)
        if length:
            fill(row.cwd / ".git/ahp", length)
        rows.append(row)
    return rows


def fill(folder: Path, length: int) -> None:
    """Append `length` records to the log in `folder`, each like its last line, chained by the journal itself."""
    from ahp.journal.append import Journal
    from ahp.system.jsontext import decode

    record = decode((folder / "signals.jsonl").read_text().splitlines()[-1])
    assert isinstance(record, dict)
    fields = {name: value for name, value in record.items() if name != "prev"}
    journal, batch = Journal(str(folder)), 5_000
    for _ in range(length // batch):
        journal.append([dict(fields) for _ in range(batch)])


def measure(scratch: Scratch, rounds: int, groups: Sequence[str], quick: bool) -> dict[str, object]:
    """Run the named groups, print their tables, give all figures. Groups: peers, ahp, files, rules, cold, log."""
    figures: dict[str, list[Row]] = {}

    def show(title: str, rows: list[Row], base: Row) -> None:
        interleave(rows, rounds, scratch.output)
        print(f"\n{title}\n\n{table(rows, base)}", flush=True)
        figures[title] = rows

    budgets: list[dict[str, object]] = []
    if "peers" in groups or "ahp" in groups:
        rows = floors(scratch)
        rows += peers(scratch) if "peers" in groups else []
        rows += ours(scratch) if "ahp" in groups else []
        show("git commit: 500 tracked files, 20 staged", rows, next(row for row in rows if row.name == EMPTY))
        named = {row.name: row for row in rows}
        budgets = [budget.judge(named) for budget in BUDGETS if {budget.row, budget.base or EMPTY} <= named.keys()]
        _print_budgets(budgets)
    if "files" in groups:
        for group in sizes(scratch, quick):
            show(f"git commit against size: {group[0].name.split(':')[0]}, 20 staged", group, group[1])
            named = {row.name: row for row in group}
            kept = [budget.judge(named) for budget in BUDGETS_OF_SIZE if budget.row in named]
            _print_budgets(kept)
            budgets += kept
    against: list[tuple[str, Callable[[Scratch, bool], list[Row]]]]
    against = [("rules", rules), ("cold", cold_starts), ("log", log_lengths)]
    for name, make in against:
        if name in groups:
            rows = make(scratch, quick)
            show(f"git commit against size: {name}", rows, rows[0])
    return {"groups": figures, "budgets": budgets}


def _print_budgets(budgets: Sequence[dict[str, object]]) -> None:
    if budgets:
        print(f"\n{'budget':45} {'limit':>7} {'wall':>7} {'CPU':>7}")
    for budget in budgets:
        kept = "kept" if budget["kept"] else "NOT KEPT"
        print(f"{budget['what']:45} {budget['limit']:7.2f} {budget['wall']:7.2f} {budget['cpu']:7.2f}  {kept}")
