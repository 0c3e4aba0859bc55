from __future__ import annotations

import pytest

from ahp.policy import lint
from tests.policy.conftest import Load


@pytest.mark.parametrize(("more", "told"), [("", 1), (", on_missing: skip", 0)])
def test_a_rule_that_says_what_happens_without_its_facts_needs_no_advice(load: Load, more: str, told: int) -> None:
    policy = load(f"rules: {{a: {{at: pre-push, prompt: tests.failed_count > 0{more}}}}}")
    assert len(lint.advise(policy)) == told
