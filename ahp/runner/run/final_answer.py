"""The answer of a task in words for a person: protocol is never shown, and nothing that was said is lost."""

from collections.abc import Callable

from ahp.runner.run import prompts
from ahp.runner.run.session import Session
from ahp.runner.run.state_machine import Stop
from ahp.runner.words.actions import Malformed
from ahp.runner.words.replies import Act, Words


def final_answer(session: Session, scene: str, where: str, act: Callable[[Act], str]) -> str:
    """Asks the model until its reply is an answer; `act` does what another one asks for, and gives the next turn.

    An answer with a control signal at the end of a line is asked for once more, as no form tells whether the signal was
    left behind or is what the answer is about. What comes then is the answer, and where nothing can come any more, the
    first one is. Raises Stop, such as with MAX_ITER; `where` is for its advice.
    """
    ask = session.loop(scene, where)
    doubted: str | None = None
    while True:
        try:
            text = ask()
        except Stop:
            if doubted is None:
                raise
            return _told(session, doubted)
        reply = session.read(text, scene)
        if isinstance(reply, Words) and (doubted is not None or not reply.signal):
            return _told(session, reply.text)
        if isinstance(reply, Words):
            doubted = reply.text
            session.events("intercepted", text=text)
            session.say(prompts.SIGNAL_IN_ANSWER)
        elif isinstance(reply, Act):
            doubted = None
            session.say(act(reply))
        elif isinstance(reply, Malformed):
            session.say(reply.problem)
        else:
            session.events("intercepted", text=text)
            session.say(prompts.PLAIN_WORDS)


def _told(session: Session, answer: str) -> str:
    session.events("answered", text=answer)
    return answer
