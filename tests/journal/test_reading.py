"""What the fold makes of any records is what docs/log-records.md says a reader makes of them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ahp.journal.fold import Fold, MemoryStore
from ahp.system import clock
from tests.examples import examples

from .reading import DAY, Reading

START = 1_770_000_000.0
_NTH = st.integers(0, 3)  # which signal, counted from the last


def _some(**each: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Keys that may be there or not."""
    return st.fixed_dictionaries({}, optional={name: st.just(value) for name, value in each.items()})


_EVENT = st.fixed_dictionaries(
    {
        "hook": st.sampled_from([*["pre-commit"] * 4, "commit-msg", "pre-push", "post-commit", *["pre-tool-use"] * 2]),
        "subject": st.sampled_from(["main", "main", "main", "FEAT-1"]),
        "actor": st.sampled_from(["agent:claude", "agent:claude", "human:ann"]),
        "host": st.sampled_from(["git", "git", "claude"]),
        "attempt": st.sampled_from(["", "", "t1", "t2", "new", "new"]),
        "change": st.sampled_from(["", "c", "c", "d"]),
    },
    optional={"head": st.sampled_from(["", "h1", "h2"])},
)
_ABOUT = st.fixed_dictionaries(
    {"rule": st.sampled_from(["size/1", "size/1", "secrets/1"])}, optional={"target": st.just("write a")}
)
_LEVEL = st.sampled_from(
    [
        {"intensity": "prompt", "decision": "warn"},
        {"intensity": "prompt", "decision": "warn"},
        {"intensity": "prompt", "decision": "deny"},
        {"intensity": "block", "decision": "deny"},
        {"intensity": "control", "decision": "allow_with_modification"},
        {"intensity": "control", "decision": "allow_with_modification", "advises": True},
        {"intensity": "aid", "decision": "suggest"},
    ]
)
_RARELY = st.one_of(
    *[st.just({})] * 4,
    _some(shadow=True, undecidable=True),
    _some(waived="w", counted=False),
    st.sampled_from([60.0, 3 * DAY, 60 * DAY]).map(lambda seconds: {"forget_after": seconds}),
)
_SIGNAL = st.builds(
    lambda *parts: {"kind": "signal", **{k: v for part in parts for k, v in part.items()}},
    *(_EVENT, _ABOUT, _LEVEL, _RARELY),
    st.fixed_dictionaries({"evidence": st.sampled_from(["", "e", "e", "f"])}),
)
_RECORD = st.one_of(
    _SIGNAL,
    _SIGNAL,
    _SIGNAL,
    _EVENT.map(lambda event: {"kind": "verdict", **event}),
    st.builds(
        lambda event, about, reason: {"kind": "episode-end", **event, **about, "reason": reason},
        *(_EVENT, _ABOUT, st.sampled_from(["mended", "mended", "forgotten"])),
    ),
    st.builds(
        lambda nth, action, by: {"kind": "response", "id": nth, "action": action, "by": by},
        _NTH,
        st.sampled_from(
            [
                "acknowledge",
                "dismiss",
                "apply_suggestion",
                "retry_after_fix",
                "reject_modification",
                "accept_modification",
            ]
        ),
        st.sampled_from(["human:ann", "agent:claude"]),
    ),
    st.just({"kind": "clock", "by": "human:ann"}),
    st.just({"kind": "of a later ahp"}),
)
_STEPS = st.sampled_from([0.0, 1.0, 1.0, 30.0, 30.0, 700.0, DAY, 8 * DAY, 30 * DAY, -40 * DAY])


def _story(steps: list[tuple[float, dict[str, Any]]]) -> list[dict[str, Any]]:
    """The records with ids, and with times that only a person's word takes back."""
    records, at, ids = [], START, list[str]()
    for nth, (step, told) in enumerate(steps):
        at = at + step if step >= 0 or told["kind"] == "clock" else at
        record = {"timestamp": clock.iso(at), **told}
        if record.get("attempt") == "new":
            record["attempt"] = f"new-{nth}"
        if record["kind"] == "signal":
            ids.append(f"s{nth}")
            record["id"] = ids[-1]
        elif record["kind"] == "response":
            record["id"] = ids[-1 - record["id"]] if record["id"] < len(ids) else "none"
        records.append(record)
    return records


@examples(150)
@given(steps=st.lists(st.tuples(_STEPS, _RECORD), min_size=15, max_size=40), later=st.sampled_from([0.0, 10 * DAY]))
def test_the_fold_equals_a_plain_reading(steps: list[tuple[float, dict[str, Any]]], later: float) -> None:
    records = _story(steps)
    at = clock.parse_iso(records[-1]["timestamp"])
    store = MemoryStore()
    fold = Fold(store)
    for record in records:
        fold.apply(record)
    fold.expire(at + later)
    meant = Reading(records, at + later)
    ladders = {key: (e.count, e.rejected, e.last) for key, e in store.episodes.items()}
    assert ladders == {key: (e["count"], e["rejected"], e["last"]) for key, e in meant.open.items()}
    for id, said in meant.signals.items():
        signal = store.signal(id)
        assert signal is not None
        assert (signal.action, signal.nth) == (said["action"], said["nth"]), id
