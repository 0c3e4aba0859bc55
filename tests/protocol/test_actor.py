"""Who acts, told by markers."""

from __future__ import annotations

import pytest

from ahp.protocol.event import identify


@pytest.mark.parametrize(
    ("env", "actor"),
    [
        ({}, "human"),
        ({"USER": "ann"}, "human:ann"),
        ({"USER": "a\n\x1b[2Jb"}, "human:a2Jb"),
        ({"CLAUDECODE": "1", "USER": "ann"}, "agent:claude"),
        ({"GEMINI_CLI": "1"}, "agent:gemini"),
        ({"CODEX_SANDBOX": "seatbelt"}, "agent:codex"),
        ({"AHP_AGENT": "mine"}, "agent:mine"),
        ({"CLAUDECODE": ""}, "human"),
        ({"CI": "true"}, "ci"),
        ({"CI": "false"}, "human"),
        ({"CI": "0"}, "human"),
        ({"GITHUB_ACTIONS": "true"}, "ci:github_actions"),
        ({"CI": "true", "CLAUDECODE": "1"}, "agent:claude"),
        ({"AHP_AGENT": "x" * 99}, "agent:" + "x" * 40),
    ],
)
def test_markers_name_the_actor(env: dict[str, str], actor: str) -> None:
    assert str(identify(env)) == actor
