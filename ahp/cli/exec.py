"""`ahp exec`: run a command through the gate."""

import click

from ahp.cli.say import say
from ahp.hosts.verdict_text import steps_of
from ahp.protocol.signals import reason_of
from ahp.protocol.verdict import Verdict
from ahp.system import environ, jsontext, process


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("command_line", metavar="-- COMMAND…", nargs=-1, required=True, type=click.UNPROCESSED)
def command(command_line: tuple[str, ...]) -> int:
    """Run COMMAND; if it moves an issue (monoco issue start, submit, close, update), ask the gate first.

    Refused: exit code 1, nothing was run. Else the exit code is the command's own.
    """
    return through_the_gate(list(command_line), "exec")


def through_the_gate(argv: list[str], asking: str) -> int:
    """Judges a command, runs it, judges what follows; its exit code. `asking` is the host: exec, shim."""
    from ahp.hosts import exec as host

    env = environ.current()
    gates = host.gates_of(argv, asking)
    verdicts = host.ask(gates)
    told_json = any(env.get(name, "").lower() in ("1", "true") for name in ("AGENT_FLAG", "MONOCO_AGENT"))
    as_json = told_json or any(gate.json for gate in gates)
    for verdict in verdicts:
        if verdict.denied and as_json:
            click.echo(jsontext.encode(_refusal(verdict)))
        else:
            say(verdict, env)
        if verdict.denied:
            return 1
    code = process.attached(argv, {**env, **host.followed(gates)})
    if code == 0:
        for after in host.follow(gates):
            say(after, env)
    return code


def _refusal(verdict: Verdict) -> dict[str, object]:
    """A refusal as Monoco words its own, for who reads its JSON."""
    blocks = [signal for signal in verdict.signals if signal.intensity == "block"]
    reasons = [f"[{signal.context['rule']}] {reason_of(signal.payload)}" for signal in blocks]
    steps = [step for signal in blocks for step in steps_of(signal.payload)]
    error = f"{verdict.trigger} refused by ahp: {'; '.join(reasons)}"
    return {"error": error, "suggestions": steps, "decision": "deny"}
