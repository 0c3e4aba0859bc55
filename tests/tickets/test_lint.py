from __future__ import annotations

from ahp.tickets.find import Tickets
from ahp.tickets.lint import lint
from tests.tickets.memory import MemoryView, draft, place


def faults(files: dict[str, str]) -> list[str]:
    return [str(problem).removeprefix("Issues/Features/") for problem in lint(Tickets(MemoryView(files)))]


def test_sound_tickets_have_no_faults() -> None:
    record = "---\nid: FEAT-0003\nstatus: doing\nstage: implementing\n---\n- [1] a note\n"
    assert faults({place("FEAT-0001"): draft("FEAT-0001"), "Issues/Features/doing/FEAT-0003.md": record}) == []


def test_every_fault_is_named_at_its_line() -> None:
    odd = (
        draft("FEAT-0001", "FEAT-0404").replace("stage: draft", "stage: later\ncriticality: huge") + "- [v] b\n- [ ]\n"
    )
    closed = draft("FEAT-0002").replace("status: open", "status: closed").replace("stage: draft", "stage: done")
    files = {
        place("FEAT-0001"): odd,
        place("FEAT-0002"): closed,
        place("FEAT-0003"): "---\nid: [\n---\n",
        place("FEAT-0004"): draft("FEAT-0004", "FEAT-0004") + "<<<<<<< HEAD\n",
        place("FEAT-0005"): draft("FEAT-0005"),
        place("FEAT-0005", "backlog"): draft("FEAT-0005").replace("status: open\nstage: draft", "status: backlog"),
    }
    assert faults(files) == [
        f"Issues/: FEAT-0005 has 2 tickets, {place('FEAT-0005', 'backlog')} and {place('FEAT-0005')}; keep one",
        "open/FEAT-0001-a-thing.md:5: `stage: later` is none of draft, doing, review, done, freezed",
        "open/FEAT-0001-a-thing.md:6: `criticality: huge` is none of low, medium, high, critical",
        "open/FEAT-0001-a-thing.md:8: it depends on FEAT-0404, and there is no such ticket",
        "open/FEAT-0001-a-thing.md:16: this box has an unknown mark and counts as open; write [ ], [x], [/] or [~]",
        "open/FEAT-0001-a-thing.md:17: a box without a text; say what is to be done, or take it away",
        "open/FEAT-0002-a-thing.md: its status is closed; it belongs at Issues/Features/closed/FEAT-0002-a-thing.md",
        "open/FEAT-0002-a-thing.md:14: it is done, and this box is open",
        "open/FEAT-0003-a-thing.md:2: the front matter is not YAML: did not find expected node content",
        "open/FEAT-0004-a-thing.md:15: a merge conflict is not resolved; the boxes of both sides count",
    ]
