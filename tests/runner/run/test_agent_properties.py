"""Whatever a model replies and the gate says, a run ends in order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ahp.protocol.verdict import Verdict
from ahp.runner.models.model import ContextOverflow, ModelError
from ahp.runner.run.run_state import MOVES, State
from ahp.runner.scripted import Scripted, scripted_tool
from ahp.runner.words.plan import StepStatus
from ahp.runner.words.replies import is_protocol_content
from ahp.system.errors import AhpError
from tests.examples import examples
from tests.runner.runs import DONE, REPLAN, Scene, block, call, plan
from tests.runner.scripted_gate import ScriptedGate, signal, verdict

REPLIES: st.SearchStrategy[Scripted] = st.sampled_from(
    [
        *(DONE, REPLAN, "STEP_DONE", "", "words", call(), call(n=1), call("nothing"), call() + call(), "{", "```"),
        *(plan("a"), plan("b", "a", b=["a"]), plan("a", a=["a"]), plan(*"abcdefghij"), "[PLAN]\n1. a\n2. b"),
        *('{"respond": "p", "action": "acknowledge"}', '{"respond": "b", "action": "abort"}', f"It is.\n{DONE}"),
        *(ModelError("gone"), ContextOverflow("long"), RuntimeError("boom")),
    ]
)


def ruling(trigger: str, kind: str) -> Verdict | AhpError:
    if kind == "error":
        return AhpError("cannot judge")
    if kind == "control":
        change: list[dict[str, object]] = [{"target": "tool.input.n", "original": 1, "updated": 2, "reason": "r"}]
        return verdict(trigger, signal("control", "c", "m", signal_id="c"), modifications=change)
    if kind == "allow":
        return verdict(trigger)
    return verdict(trigger, block() if kind == "block" else signal(kind, kind, "m", signal_id=kind))


RULINGS = st.lists(
    st.sampled_from(["allow", "allow", "block", "control", "prompt", "aid", "error"]), min_size=1, max_size=4
)


@examples(300)
@given(
    replies=st.lists(REPLIES, max_size=12),
    before=RULINGS,
    after=RULINGS,
    planning=st.booleans(),
    limits=st.fixed_dictionaries(
        {name: st.integers(0, 3) for name in ("max_plan_steps", "max_step_tool_calls", "max_replans", "max_same_calls")}
        | {
            "max_iterations": st.integers(0, 5),
            "context_tokens": st.none() | st.integers(0, 900),
        }
    ),
)
def test_a_run_ends_in_order(
    replies: list[Scripted], before: list[str], after: list[str], planning: bool, limits: dict[str, int | None]
) -> None:
    gate = ScriptedGate(
        {
            "pre-tool-use": [ruling("pre-tool-use", kind) for kind in before],
            "task-complete": [ruling("task-complete", kind) for kind in after],
        }
    )
    tool = scripted_tool("look", ["seen", AhpError("no"), "seen"])
    scene = Scene(replies, tools=[tool], gate=gate, planning=planning, **limits)  # type: ignore[arg-type]
    turn = scene.turn
    assert scene.events[-1]["event"] == "run_end"
    assert (turn.stop_reason == "DONE") is (turn.state is State.DONE)
    assert turn.answer
    if turn.stop_reason == "DONE":
        assert not is_protocol_content(turn.answer)
        assert turn.plan is None or turn.plan.done
    for former, new in zip(scene.states, scene.states[1:], strict=False):
        assert State(new) in MOVES[State(former)]
    if turn.plan is not None:
        assert not [step for step in turn.plan.steps if step.status is StepStatus.IN_PROGRESS]
    # Every tool that ran had been allowed just before.
    ran = [event for event in scene.events if event["event"] == "tool_result" and event["code"] in ("ok", "E_TOOL")]
    allowed = [e for e in scene.of("verdict") if e["trigger"] == "pre-tool-use" and e["decision"] != "deny"]
    assert len(ran) <= len(allowed)
