"""The worker's part of a plan step: requests and calls until its model says that it is through (seed 004 §2.2)."""

from collections.abc import Callable

from ahp.runner.run import prompts
from ahp.runner.run.limits import Breaker
from ahp.runner.run.session import Session
from ahp.runner.words.actions import Malformed
from ahp.runner.words.replies import Act


def work_on(session: Session, step_id: str, calls_made: int, begin: Callable[[], object]) -> tuple[str | None, bool]:
    """(why the step is not done or None, whether the model asked for another plan). Raises Stop.

    `calls_made` tools were called for it before; `begin` opens its conversation, or goes on with it.
    """
    calls = Breaker(session.config.max_step_tool_calls, calls_made)
    ask = session.loop("step", f"step {step_id}")
    begin()
    while True:
        reply = session.read(ask(), "step")
        if isinstance(reply, Act) and reply.control is not None:
            session.desk.answer(list(reply.responses))
            signal = reply.control
            session.events(
                "control_signal", control=signal.control, step_id=step_id, reason=signal.reason, via=signal.via
            )
            asked = signal.control == "replan"
            return (f"step {step_id} asks for it: {signal.reason or 'no reason given'}" if asked else None), asked
        if isinstance(reply, Act):
            if not all(calls.spend() for _ in reply.calls):
                return f"step {step_id} needed more than {calls.limit} tool calls (max_step_tool_calls)", False
            session.say(session.act(reply))
        elif isinstance(reply, Malformed):
            session.say(f"{reply.problem}\n{prompts.CONTROL}")
        else:
            session.say(prompts.STEP_NUDGE)
