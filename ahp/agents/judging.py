"""From what a client asks to a verdict and what the agent reads of it.  [light]"""

from ahp.agents.calls import call_view, tool_call
from ahp.gate.decide import decide
from ahp.hosts import asking
from ahp.journal import session_calls
from ahp.policy.judges import judges_of
from ahp.protocol.event import Actor
from ahp.protocol.verdict import Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.agents.clients import Asked
    from ahp.protocol.event import Event, Workspace

_OUTPUT = 64 << 10  # characters of a tool's answer that conditions read


def judge(asked: "Asked", where: "Workspace", client: str, seconds: float) -> tuple[Verdict, str]:
    """The verdict, and what the agent is to read of it: "" where there is nothing to say. Raises AhpError."""
    event = event_of(asked, where, client, seconds)
    verdict, said = _judged(event, asked, where)
    commands = (event.tool or {}).get("commands")
    if verdict.denied and event.trigger == "pre-tool-use" and isinstance(commands, list) and len(commands) > 1:
        from ahp.hosts import verdict_text

        said = verdict_text.as_a_whole(said)
    return verdict, said


def _judged(event: "Event", asked: "Asked", where: "Workspace") -> tuple[Verdict, str]:
    judges = judges_of(event)
    if event.trigger.endswith("tool-use"):
        _take_call(event, asked, any(judge.program.rules for judge in judges) or _has_a_gate(asked))
    elif event.trigger == "task-complete":
        asking.complete(event, where.root)
    if event.trigger == "pre-tool-use" and any(
        rule.box is not None for judge in judges for rule in judge.program.rules
    ):
        from ahp.agents import boxing

        asked.in_box = boxing.settle(event, judges)
    verdict, said = decide(event, judges), ""
    if (event.tool or {}).get("boxed"):
        verdict.box = asked.in_box[1]
    if event.trigger == "pre-tool-use" and not verdict.denied and _moves_an_issue(event):
        from ahp.agents import issue_gate

        refusal, said = issue_gate.judge(event, asked.folder)
        if refusal is not None:
            return refusal, said
    again = False
    if verdict.denied and event.session and event.tool is not None:
        again = session_calls.was_refused(event.journal, event.session, event.tool)
    session_calls.note_judged(event, verdict)
    if event.trigger == "session-start":
        from ahp.hosts import brief

        return verdict, brief.at_start(event, verdict)
    if not (verdict.signals or verdict.notes):
        return verdict, said
    from ahp.hosts import verdict_text

    return verdict, "\n".join([part for part in (verdict_text.for_agent(verdict, again), said) if part])


def carried(asked: "Asked", where: "Workspace", said: str, is_mute: bool) -> str:
    """What is said now: at an event that has no place for words they wait for the session's next one that has."""
    session = asking.session_name(asked.session) if asked.session else ""
    if not session:
        return said
    if not is_mute:
        return "\n".join([part for part in (session_calls.take(where.journal, session), said) if part])
    if said:
        session_calls.keep(where.journal, session, said)
    return ""


def reached(asked: "Asked", where: "Workspace", client: str, seconds: float) -> str:
    """What a probe is answered: that it came here, and to how many rules. Raises AhpError for a policy that fails."""
    judges = judges_of(event_of(asked, where, client, seconds))
    rules = len({rule.key for judge in judges for rule in judge.program.rules})
    return f"ahp reached: {rules} rule{'s' * (rules != 1)} for tool calls"


def event_of(asked: "Asked", where: "Workspace", client: str, seconds: float) -> "Event":
    """The gate's event; the client's id of the call is the attempt, so that several hooks of one call count once."""
    session = asked.session or None
    event = asking.event(asked.trigger, client, Actor("agent", client), where, session=session, budget=seconds)
    event.attempt = asked.call
    return event


def _has_a_gate(asked: "Asked") -> bool:
    """Whether a command may be one that has rules of its own: what commits, pushes or moves an issue."""
    told = asked.input.get("command")
    text = told if isinstance(told, str) else " ".join(map(str, told)) if isinstance(told, list) else ""
    return "git" in text or "monoco" in text


def _moves_an_issue(event: "Event") -> bool:
    """Whether the call may be one of Monoco's."""
    commands = (event.tool or {}).get("commands")
    found = commands if isinstance(commands, list) else []
    return any(one["program"] == "monoco" or "monoco" in " ".join(one["args"][:4]) for one in found)


def _take_call(event: "Event", asked: "Asked", has_rules: bool) -> None:
    """Gives the event its tool call; read only as far as anybody asks, for a shell command takes a parser."""
    if not has_rules:
        event.tool = {"native_name": asked.tool, "input": asked.input}
        return
    event.tool = tool_call.read("", asked.tool, asked.input, root=event.root, folder=asked.folder)
    if asked.output is not None:
        event.tool["output"], event.tool["is_error"] = asked.output[:_OUTPUT], asked.is_error
    event.view = call_view.view_of(event)
