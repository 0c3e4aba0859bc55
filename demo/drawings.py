"""The five drawings of the documentation, in English and Chinese.

    python demo/drawings.py [FOLDER]      writes FOLDER/*.svg; without a folder, docs/pictures

Each is a list of boxes and arrows, narrow enough for a phone. Colours follow the reader's light or dark setting.
"""

from __future__ import annotations

import sys
import tomllib
from html import escape
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).resolve().parents[1]
WIDTH = 400
LINE = 19
STYLE = """\
svg { --ink: #1f2430; --soft: #5b6472; --card: #f4f5fb; --edge: #8f9bd4 }
svg { --good: #1b7f4b; --bad: #b3261e; --warn: #8a5a00 }
@media (prefers-color-scheme: dark) {
  svg { --ink: #e8eaf2; --soft: #aab2c5; --card: #23283a; --edge: #6f7fc4 }
  svg { --good: #5fd39a; --bad: #ff8a80; --warn: #ffc35c }
}
text { font: 14px system-ui, -apple-system, "Segoe UI", "Noto Sans", "Noto Sans CJK SC", sans-serif; fill: var(--ink) }
.title { font-weight: 600; font-size: 15px }
.soft { fill: var(--soft); font-size: 13px }
rect { fill: var(--card); stroke: var(--edge); stroke-width: 1.2 }
path { fill: none; stroke: var(--soft); stroke-width: 1.4 }
.head { fill: var(--soft); stroke: none }
.good { stroke: var(--good) } .bad { stroke: var(--bad) } .warn { stroke: var(--warn) }
"""


class Box(NamedTuple):
    """A box at (x, y), `wide`: a title, then lines, which make its height. `kind` is good, bad, warn or ""."""

    x: int
    y: int
    wide: int
    title: str
    lines: tuple[str, ...] = ()
    kind: str = ""

    @property
    def high(self) -> int:
        return 32 + LINE * len(self.lines)

    @property
    def bottom(self) -> int:
        return self.y + self.high

    def svg(self, say: dict[str, str]) -> str:
        middle = self.x + self.wide // 2
        shown = [
            f'<rect x="{self.x}" y="{self.y}" width="{self.wide}" height="{self.high}" rx="8" class="{self.kind}"/>',
            text(middle, self.y + 21, say.get(self.title, self.title), "title"),
        ]
        for number, line in enumerate(self.lines):
            shown.append(text(middle, self.y + 40 + LINE * number, say.get(line, line), "soft"))
        return "\n".join(shown)


class Arrow(NamedTuple):
    """Straight lines through points, with a head at the last; its word stands at `at`, else beside the first line."""

    points: tuple[tuple[int, int], ...]
    word: str = ""
    at: tuple[int, int] = (0, 0)

    def svg(self, say: dict[str, str]) -> str:
        (x0, y0), (x1, y1) = self.points[:2]
        (xa, ya), (xb, yb) = self.points[-2:]
        run = "M" + " L".join(f"{x} {y}" for x, y in self.points)
        dx, dy = (xb > xa) - (xb < xa), (yb > ya) - (yb < ya)
        left, right = (xb - 7 * dx - 4 * dy, yb - 7 * dy - 4 * dx), (xb - 7 * dx + 4 * dy, yb - 7 * dy + 4 * dx)
        shown = f'<path d="{run}"/>\n<path class="head" d="M{xb} {yb} L{left[0]} {left[1]} L{right[0]} {right[1]} Z"/>'
        if not self.word:
            return shown
        x, y = self.at if any(self.at) else ((x0 + x1) // 2 + 8, (y0 + y1) // 2 + 4)
        return shown + "\n" + text(x, y, say.get(self.word, self.word), "soft", "start")


def text(x: int, y: int, words: str, kind: str, side: str = "middle") -> str:
    return f'<text x="{x}" y="{y}" class="{kind}" text-anchor="{side}">{escape(words)}</text>'


def down(start: Box, end: Box, word: str = "", x: int = 0) -> Arrow:
    """From the bottom of one box straight down to the top of another."""
    x = x or start.x + start.wide // 2
    return Arrow(((x, start.bottom), (x, end.y)), word)


class Drawing(NamedTuple):
    """What it shows, for who cannot see it, and its parts."""

    about: str
    parts: tuple[Box | Arrow, ...]


def overview() -> Drawing:
    person = Box(10, 10, 180, "A person", ("git commit, git push",))
    agent = Box(210, 10, 180, "A coding agent", ("tool calls, commits",))
    gate = Box(
        40,
        116,
        320,
        "The gate, in the clone",
        ("the committed .ahp/hooks.yaml judges", "silent, or: warns, changes, refuses"),
    )
    log = Box(40, 234, 320, "The log", ("each signal, each answer, chained",))
    figures = Box(40, 332, 320, "Which rules earn their keep", ("ahp stats, ahp report",))
    check = Box(
        40,
        446,
        320,
        "CI or the server",
        ("judges each commit again, by the policy", "of the target: no hook can be skipped"),
    )
    return Drawing(
        "A person and an agent act, the gate judges, the log keeps it, CI judges again",
        (
            person,
            agent,
            gate,
            log,
            figures,
            check,
            down(person, gate, "hooks", 100),
            down(agent, gate, "hooks", 300),
            down(gate, log, "writes"),
            down(log, figures, "counted"),
            Arrow(((360, 150), (382, 150), (382, 481), (360, 481)), "push", (338, 420)),
        ),
    )


def ladder() -> Drawing:
    first = Box(40, 10, 320, "Warning 1 of 2", ("the commit passes; the warning is logged",), "warn")
    second = Box(40, 96, 320, "Warning 2 of 2", ("ignored once: the next commit is refused",), "warn")
    refused = Box(40, 182, 320, "Refused", ("until it is fixed, or a person answers",), "bad")
    fixed = Box(40, 268, 320, "Fixed", ("the next commit has no such finding",), "good")
    start = Box(40, 354, 320, "It starts over", ("the rule warns again, from 1",))
    return Drawing(
        "A warning that is ignored twice becomes a refusal; once fixed it starts over",
        (
            first,
            second,
            refused,
            fixed,
            start,
            down(first, second, "ignored"),
            down(second, refused, "ignored"),
            down(refused, fixed, "fixed"),
            down(fixed, start),
            Arrow(((360, 120), (385, 120), (385, 292), (360, 292))),
            Arrow(((40, 378), (15, 378), (15, 34), (40, 34))),
        ),
    )


def judges() -> Drawing:
    edit = Box(10, 10, 180, "Your edit of it", ("not committed yet:", "can only be stricter"))
    mine = Box(210, 10, 180, "HEAD's policy", ("judges your commits",))
    push = Box(40, 130, 320, "The push", ("each commit, by the policy of the branch", "that it goes to"))
    target = Box(
        40,
        248,
        320,
        "The target's policy",
        ("as committed there now; what you push", "cannot weaken it for this push"),
        "good",
    )
    again = Box(
        40,
        366,
        320,
        "CI or the server",
        ("the same policy, the same engine", "an exemption counts if it is signed"),
        "good",
    )
    return Drawing(
        "Each commit is judged by the committed policy of the branch that it goes to",
        (
            edit,
            mine,
            push,
            target,
            again,
            Arrow(((190, 40), (210, 40))),
            down(mine, push, "commits", 300),
            down(push, target, "judged by"),
            down(target, again, "again"),
        ),
    )


def levels() -> Drawing:
    after = Box(10, 10, 200, "Seen only afterwards?", ("a review, a reading list",))
    aid = Box(250, 96, 140, "aid", ("advice, afterwards",))
    live = Box(10, 182, 200, "Can the project live", ("with it?",))
    think = Box(170, 268, 220, "Should somebody think", ("about it? if not: no rule",))
    prompt = Box(250, 354, 140, "prompt", ("a warning",), "warn")
    machine = Box(10, 440, 200, "Can a machine put it right", ("without asking?",))
    control = Box(250, 526, 140, "control", ("changed, then done",), "good")
    block = Box(40, 612, 140, "block", ("refused",), "bad")
    return Drawing(
        "Four questions lead to the level: aid, prompt, control or block",
        (
            *(after, aid, live, think, prompt, machine, control, block),
            Arrow(((210, 35), (320, 35), (320, aid.y)), "yes", (328, 70)),
            Arrow(((110, after.bottom), (110, live.y)), "before"),
            Arrow(((210, 207), (320, 207), (320, think.y)), "yes", (328, 242)),
            down(think, prompt, "yes", 320),
            Arrow(((90, live.bottom), (90, machine.y)), "no"),
            Arrow(((210, 465), (320, 465), (320, control.y)), "yes", (328, 500)),
            Arrow(((110, machine.bottom), (110, block.y)), "no"),
        ),
    )


def refused() -> Drawing:
    commit = Box(40, 10, 320, "git commit", ("src/lookup.py has a debugger call",))
    said = Box(40, 96, 320, "Refused", ("reason · file and line · the fix · an id", "nothing was committed"), "bad")
    fix = Box(10, 222, 180, "Fix it", ("take the line out",), "good")
    answer = Box(210, 222, 180, "Or answer", ("ahp respond ID, with", "a reason; a person only"))
    passed = Box(40, 344, 320, "git commit", ("passes; an answer stands in its message",), "good")
    logged = Box(40, 430, 320, "The log", ("refused, then fixed: the rule did its work",))
    return Drawing(
        "A commit is refused with reason and fix; once fixed, or answered, it passes",
        (
            commit,
            said,
            fix,
            answer,
            passed,
            logged,
            down(commit, said),
            down(said, fix, "", 100),
            down(said, answer, "", 300),
            down(fix, passed, "", 100),
            down(answer, passed, "", 300),
            down(passed, logged),
        ),
    )


DRAWINGS = {"overview": overview, "ladder": ladder, "who-judges": judges, "levels": levels, "refuse-fix-pass": refused}

CHINESE: dict[str, str] = tomllib.loads((PROJECT / "demo/drawings.zh.toml").read_text("utf-8"))


def svg(drawing: Drawing, say: dict[str, str]) -> str:
    high = max(part.bottom for part in drawing.parts if isinstance(part, Box)) + 10
    about = escape(say.get(drawing.about, drawing.about))
    shown = "\n".join(part.svg(say) for part in drawing.parts)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {high}" width="{WIDTH}" role="img"'
    return f'{head} aria-label="{about}">\n<title>{about}</title>\n<style>\n{STYLE}</style>\n{shown}\n</svg>\n'


def main(folder: Path) -> None:
    for name, make in DRAWINGS.items():
        for ending, say in ((".svg", {}), (".zh.svg", CHINESE)):
            (folder / f"{name}{ending}").write_text(svg(make(), say), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PROJECT / "docs/pictures")
