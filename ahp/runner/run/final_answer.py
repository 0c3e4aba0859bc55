"""The answer of a run: typed where the model has tools, else words; protocol is never shown, nothing said is lost."""

from collections.abc import Callable

from ahp.runner.run import prompts
from ahp.runner.run.evidence import Given
from ahp.runner.run.session import Session
from ahp.runner.run.state_machine import Stop
from ahp.runner.words.actions import Malformed
from ahp.runner.words.replies import Act, Final, Words


def final_answer(
    session: Session, scene: str, where: str, act: Callable[[Act], str], doubt: Callable[[Given], str | None]
) -> Given:
    """Asks the model until its reply is an answer; `act` does what another one asks for, and gives the next turn.

    Words are asked for once more where protocol stood beside them, and where the model could have called
    `final_answer`. So is an answer that `doubt` says is not covered. What comes then is the answer, and where nothing
    can come any more, the first one is. Raises Stop, such as with MAX_ITER; `where` is for its advice.
    """
    ask = session.loop(scene, where)
    held: Given | None = None
    doubted = False
    while True:
        try:
            text = ask()
        except Stop:
            if held is None:
                raise
            return told(session, held)
        reply = session.read(text, scene)
        if isinstance(reply, Act):
            held = None
            session.say(act(reply))
            continue
        given = session.given(reply) if isinstance(reply, Final | Words) else reply
        if isinstance(given, Given):
            again = session.ask_again(reply) if held is None else None
            if again is None and not doubted and (problem := doubt(given)) is not None:
                doubted, again = True, f"{problem}. {prompts.CLAIM}"
            if again is None:
                return told(session, given)
            held = given
            session.events("intercepted", text=text)
            session.say(again)
        elif isinstance(given, Malformed):
            session.say(given.problem)
        else:
            session.events("intercepted", text=text)
            session.say(session.no_answer)


def told(session: Session, given: Given) -> Given:
    """The answer, as the events keep it."""
    changed = None if given.changed is None else list(given.changed)
    session.events("answered", text=given.text, typed=given.typed, changed=changed, unsure=given.unsure)
    return given
