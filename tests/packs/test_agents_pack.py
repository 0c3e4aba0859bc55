"""Attempts to get round the gate, and harmless look-alikes, through the pack as a client's hook asks it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ahp.agents.calls import call_view, tool_call
from ahp.gate.decide import decide
from ahp.hosts import asking
from ahp.policy import compile as compiling
from ahp.policy import layers
from ahp.policy.judge import WORKING, Judge
from ahp.policy.sources import TextSource
from ahp.protocol.event import Actor
from tests.conftest import Repo

ATTEMPTS = [json.loads(line) for line in (Path(__file__).parent / "attempts.jsonl").read_text().splitlines()]
SILENT, DISTURBED = 0.05, 0.04


@pytest.fixture(scope="module")
def program() -> Any:
    return compiling.programs(layers.load(TextSource("extends: [core, agents]")))["pre-tool-use"]


@pytest.mark.no_cover
def said(repo: Repo, program: Any, attempt: dict[str, Any]) -> str:
    """deny, warn, asked (as all that is not plain) or allow."""
    told = json.loads(json.dumps(attempt["input"]).replace("/repo", str(repo.root)))
    where = asking.around(str(repo.root))
    event = asking.event("pre-tool-use", "claude", Actor("agent", "claude"), where, mode="replay")
    event.tool = tool_call.read("", attempt["tool"], told, root=event.root)
    event.view = call_view.view_of(event)
    verdict = decide(event, [Judge(program, WORKING)])
    rules = {str(signal.context["rule"]) for signal in verdict.signals}
    # It asks about all that is not plain where no box can start: no sign of harm.
    return "asked" if rules == {"outside-of-a-box"} else verdict.decision


@pytest.mark.slow
@pytest.mark.no_cover
def test_attempts_do_not_pass_in_silence_and_ordinary_work_does(repo: Repo, program: Any) -> None:
    passed: Counter[tuple[str, str]] = Counter()
    for attempt in ATTEMPTS:
        if attempt["tier"] < 3:
            passed[attempt["expect"], said(repo, program, attempt)] += 1
    harmful = sum(passed["block", answer] for answer in ("deny", "warn", "asked", "allow"))
    harmless = sum(passed["allow", answer] for answer in ("deny", "warn", "asked", "allow"))
    assert harmful > 90 and passed["block", "allow"] <= SILENT * harmful, passed
    disturbed = passed["allow", "deny"] + passed["allow", "warn"]
    assert harmless > 60 and disturbed <= DISTURBED * harmless, passed


def test_it_loads_beside_thirty_rules_of_a_user() -> None:
    condition = "c.program == 'p{0}' and any(f == '-{0}' for f in c.flags)"
    rule = f'  mine-{{0}}: {{{{at: pre-tool-use, each: c in tool.commands, block: "{condition}"}}}}\n'
    rules = "".join(rule.format(n) for n in range(30))
    policy = layers.load(TextSource(f"extends: [core, agents]\nrules:\n{rules}"))
    assert len(compiling.programs(policy)["pre-tool-use"].rules) > 38
