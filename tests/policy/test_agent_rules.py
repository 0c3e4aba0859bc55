"""ahp.policy.agent_rules"""

from __future__ import annotations

import pytest

from ahp.policy import agent_rules, layers
from ahp.policy.sources import TextSource
from ahp.system.errors import AhpError


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "extends: [agents]\n"),
        ("# nothing yet", "# nothing yet\nextends: [agents]\n"),
        ("# mine\nversion: 1\n", "# mine\nextends: [agents]\nversion: 1\n"),
        ("---\nrules: {}\n", "---\nextends: [agents]\nrules: {}\n"),
        ("extends: core  # the usual\n", "extends: [core, agents]  # the usual\n"),
        ("extends: 'core'\n", "extends: ['core', agents]\n"),
        ("extends: []\n", "extends: [agents]\n"),
        ("extends: [core, python] # a\nrules: {}\n", "extends: [core, python, agents] # a\nrules: {}\n"),
        ("extends: [\n  core,  # a\n  go,\n]\n", "extends: [\n  core,  # a\n  go, agents,\n]\n"),
        (
            "extends:\n  # ours\n  - core   # the usual\n  - 'team.yaml'\n\nrules: {}\n",
            "extends:\n  # ours\n  - core   # the usual\n  - 'team.yaml'\n  - agents\n\nrules: {}\n",
        ),
        ("extends:\n- core", "extends:\n- core\n- agents"),
        ("extends:\r\n- core\r\nversion: 1\r\n", "extends:\r\n- core\r\n- agents\r\nversion: 1\r\n"),
        ("\ufeffversion: 1\n", "\ufeffextends: [agents]\nversion: 1\n"),
    ],
)
def test_the_pack_is_added_and_every_other_byte_stays(before: str, after: str) -> None:
    assert agent_rules.extended(before.encode(), "hooks.yaml").decode() == after


@pytest.mark.parametrize("text", ["{version: 1}\n", "- a\n", "extends:\n  core: 1\n", "extends:\n", "a: b: c\n"])
def test_what_cannot_be_changed_alone_is_left(text: str) -> None:
    with pytest.raises(AhpError):
        agent_rules.extended(text.encode(), "hooks.yaml")


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("extends: [core, tickets]", False),
        ("extends: [core, agents]", True),
        ("rules: {r: {at: pre-commit, block: actor.kind == 'agent'}}", False),
        ("rules: {r: {at: post-tool-use, aid: tool.is_error}}", False),
        ("rules: {r: {at: pre-tool-use, block: tool.name == 'shell'}}", True),
        ("rules: {r: {at: pre-tool-use, each: w in tool.writes, block: w == 'x'}}", True),
        ("rules: {r: {at: pre-tool-use, block: branch.name == 'main'}}", False),
    ],
)
def test_rules_of_an_agents_calls_are_the_packs_or_the_policys_own(text: str, there: bool) -> None:
    assert agent_rules.are_in(layers.load(TextSource(text))) is there
