"""The trace context of https://www.w3.org/TR/trace-context/, as it comes and as commands get it."""

from __future__ import annotations

import pytest

from ahp.system import environ

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
VALID = f"00-{TRACE}-{SPAN}-01"


@pytest.mark.parametrize(
    ("told", "valid"),
    [
        (VALID, VALID),
        (f"01-{TRACE}-{SPAN}-0b", f"00-{TRACE}-{SPAN}-01"),  # of a later version the flag that this one knows
        (f"cc-{TRACE}-{SPAN}-00-what-comes-later", f"00-{TRACE}-{SPAN}-00"),
        ("", ""),
        ("-", ""),
        (VALID.upper(), ""),
        (f"{VALID}-more", ""),
        (f"{VALID}-", ""),
        (f" {VALID}", ""),
        (f"{VALID}\n", ""),
        (f"ff-{TRACE}-{SPAN}-01", ""),
        (f"00-{'0' * 32}-{SPAN}-01", ""),
        (f"00-{TRACE}-{'0' * 16}-01", ""),
        (f"00-{TRACE[:-1]}-{SPAN}-01", ""),
        (f"00-{TRACE}-{SPAN}-1", ""),
        (f"00-{TRACE}-{SPAN}", ""),
        (f"00-{TRACE[:-1]}٣-{SPAN}-01", ""),
        ("$(touch pwned)", ""),
    ],
)
def test_what_is_no_trace_context_counts_as_none(told: str, valid: str) -> None:
    env = {"PATH": "/bin", "TRACEPARENT": told, "TRACESTATE": "a=b"}
    assert environ.traceparent(env) == valid
    kept = {"TRACEPARENT": valid, "TRACESTATE": "a=b"} if valid else {}
    assert environ.scrubbed(env) == {"PATH": "/bin", **kept}


@pytest.mark.parametrize("told", [None, 5, "", ["00"], {"a": 1}])
def test_a_payload_without_a_valid_one_takes_away_the_state_as_well(told: object) -> None:
    env = {"TRACEPARENT": VALID, "TRACESTATE": "a=b", "PATH": "/bin"}
    assert environ.traced(env, told) == {"PATH": "/bin"}
    other = f"00-{SPAN * 2}-{SPAN}-00"
    assert environ.traced(env, other) == {"PATH": "/bin", "TRACEPARENT": other}  # the state is another one's
