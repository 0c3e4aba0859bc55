"""One rule passes for what one change is, and the commit says so (authority §5)."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ahp.gate.overrides import Override, find, lines, of_commit, trailers, unknown
from ahp.journal.append import Journal
from ahp.journal.episodes import Act, LoggedSignal
from ahp.protocol.records import other
from ahp.system import clock

EVENT: Any = SimpleNamespace(actor=SimpleNamespace(kind="human"), repo=None)
ACT = Act(100.0, "git", "pre-commit", "t1", "change1:c", "sha256:e", "head1")
RULE, EVIDENCE = "sha256:" + "a" * 64, "sha256:" + "b" * 64
OTHER = "sha256:" + "c" * 64
LINE = f"Ahp-Override: size/1 {RULE} {EVIDENCE} hot fix"


def taken(**more: Any) -> LoggedSignal:
    signal = LoggedSignal()
    signal.id, signal.rule, signal.by, signal.act = "id", "size/1", "human:ann", ACT
    signal.rule_digest, signal.content = RULE, EVIDENCE
    signal.details = {"reason": "hot\nfix"}
    for name, value in more.items():
        setattr(signal, name, value)
    return signal


def found(
    signal: LoggedSignal, act: Act = ACT, digest: str = RULE, evidence: str = EVIDENCE, overridable: bool = True
) -> Override | None:
    return find([signal], act, EVENT, digest=digest, evidence=evidence, overridable=overridable)


def test_an_override_is_for_the_rule_as_it_is_and_what_the_change_is() -> None:
    override = found(taken(), ACT._replace(token="t2", change="another", evidence="other"))
    assert override is not None
    assert (override.signal, override.by, override.trailer) == ("id", "human:ann", LINE)
    assert found(taken(), evidence=OTHER) is None
    assert found(taken(), digest=OTHER) is None
    assert found(taken(content=""), evidence="") is None


def test_an_override_is_good_for_one_commit_and_all_its_hooks() -> None:
    spent = taken(spent=ACT._replace(token="t2", at=200.0))
    moved = ACT._replace(head="head2", at=230.0)
    assert found(spent, moved._replace(token="t2", hook="commit-msg"))
    assert found(spent, moved._replace(token="t3")) is None
    assert found(spent, ACT._replace(token="t3", at=230.0))  # no commit came of the first attempt
    apart = taken(spent=ACT._replace(token="t2", head=None))
    assert found(apart, ACT._replace(token="t3", head=None)) is None


def test_what_a_person_was_given_serves_no_agent() -> None:
    agents: Any = SimpleNamespace(actor=SimpleNamespace(kind="agent"), repo=None)
    asked = {"digest": RULE, "evidence": EVIDENCE, "overridable": True}
    assert find([taken(actor="human:ann")], ACT, agents, **asked) is None
    assert find([taken(actor="agent:claude")], ACT, agents, **asked)
    assert find([taken(actor="agent:claude")], ACT, EVENT, **asked)  # a person makes the commit instead


def test_one_for_a_push_holds_for_its_tip_as_often_as_it_is_tried() -> None:
    act = ACT._replace(hook="pre-push")
    spent = taken(act=act, spent=act._replace(token="t2", at=200.0))
    assert found(spent, act._replace(token="t3", at=230.0))
    assert found(spent, act._replace(token="t3", head="another tip")) is None
    assert found(spent, act._replace(token="t3"), evidence=OTHER) is None


def test_a_rule_that_cannot_be_overridden_is_not() -> None:
    assert found(taken(), overridable=False) is None
    assert find([], ACT, EVENT, digest=RULE, evidence=EVIDENCE, overridable=True) is None


def test_a_trailer_is_one_line_whatever_the_reason() -> None:
    reason = "x\n\nSigned-off-by: me\x1b[2J" + "y" * 500
    told = Override("id", "r\n/1", RULE, EVIDENCE, "human", reason).trailer.splitlines()
    assert len(told) == 1
    assert "\x1b" not in told[0]
    assert len(told[0]) < 500
    assert list(lines(told[0].encode())) == [("r /1", RULE, EVIDENCE)]


@pytest.mark.parametrize(
    ("message", "bound"),
    [
        (f"subject\n\n{LINE}\n", ("size/1", RULE, EVIDENCE)),
        (f"squashed\n\n    first\n\n    {LINE}\n    more\n", ("size/1", RULE, EVIDENCE)),
        (f"\t{LINE.replace('Ahp-Override', 'AHP-override')}", ("size/1", RULE, EVIDENCE)),
        (LINE.replace("size/1", "a rule/with blanks"), ("a rule/with blanks", RULE, EVIDENCE)),
        (LINE.removesuffix(" hot fix"), ("size/1", RULE, EVIDENCE)),
        ("Ahp-Override: size/1 hot fix", ("", "", "")),
        (f"Ahp-Override: {RULE} {EVIDENCE} x", ("", "", "")),
        (LINE[:-20].replace(EVIDENCE, EVIDENCE[:-1]), ("", "", "")),
        ("ahp-override:", ("", "", "")),
    ],
)
def test_the_line_is_found_anywhere_in_a_message(message: str, bound: tuple[str, str, str]) -> None:
    assert list(lines(message.encode())) == [bound]


@pytest.mark.parametrize("message", ["", f"see {LINE}", f"# {LINE}", "Ahp-Overrides: x", "subject\n"])
def test_what_only_speaks_of_it_is_no_line(message: str) -> None:
    assert lines(message.encode()) == {}


def test_line_and_log_must_agree(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "ahp"))
    message = f"subject\n\n{LINE}\n".encode()
    bound = {"rule": "size/1", "digest": RULE, "evidence": EVIDENCE, "overridable": True}

    def of(message: bytes = message, **more: Any) -> Override | None:
        return of_commit(journal.folder, message, **{**bound, **more})

    def answer(by: str, content: str = EVIDENCE, action: str = "proceed_with_risk") -> None:
        more = {"rule": "size/1", "digest": RULE, "content": content, "details": {"reason": "hot fix"}}
        journal.append([other("response", clock.iso(clock.now()), id="one", action=action, by=by, **more)])

    assert unknown(journal.folder, message) == [LINE] and of() is None
    answer("agent:claude")
    answer("human:ann", OTHER)
    answer("human:ann", action="abort")
    assert unknown(journal.folder, message) == [LINE] and of() is None
    answer("human:ann")
    assert unknown(journal.folder, message) == [] == unknown(journal.folder, b"subject\n")
    given = of()
    assert given is not None and (given.by, given.reason, given.trailer) == ("human:ann", "hot fix", LINE)
    assert of(b"subject\n") is None  # the log alone
    assert of(digest=OTHER) is None and of(evidence=OTHER) is None and of(overridable=False) is None
    both = message + b"Ahp-Override: another thing\n"
    assert unknown(journal.folder, both) == ["Ahp-Override: another thing"]


@pytest.mark.parametrize("change", ["change1:c", "change1:d", ""])
def test_a_commit_under_an_override_carries_its_trailer(tmp_path: Path, change: str) -> None:
    journal = Journal(str(tmp_path / "ahp"))
    views: list[Any] = [SimpleNamespace(digest=lambda: change), SimpleNamespace(digest=lambda: "")]
    event: Any = SimpleNamespace(
        journal=journal.folder,
        genesis=None,
        trigger="commit-msg",
        attempt="another",
        subject="main",
        actor=SimpleNamespace(kind="human"),
    )
    assert trailers(event, *views) == []
    stamp = clock.iso(clock.now())
    signal = {"hook": "pre-commit", "intensity": "block", "rule": "size/1", "subject": "main", "change": "change1:c"}
    signal |= {"digest": RULE, "content": EVIDENCE}
    journal.append(
        [
            other("signal", stamp, id="first", actor="agent:claude", decision="deny", **signal),
            other("response", stamp, id="first", action="proceed_with_risk", by="human:ann", details={"reason": "why"}),
        ]
    )
    assert trailers(event, *views) == []
    journal.append(
        [other("signal", stamp, id="second", actor="human:ann", decision="allow", overrides="first", **signal)]
    )
    assert trailers(event, *views) == ([LINE.replace("hot fix", "why")] if change == "change1:c" else [])
