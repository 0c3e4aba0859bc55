"""pre-push: one evaluation a ref, on what the remote does not have yet."""

from ahp.gate.decide import decide
from ahp.hosts.git import bypass
from ahp.hosts.git.githooks import Hook, read_input, say
from ahp.hosts.git.ranges import range_of, read_refs
from ahp.policy.judges import judges_of
from ahp.protocol.text import without_credentials


def judge(hook: Hook) -> int:
    """The hook's exit code: the worst of its refs. Raises AhpError when git's lines cannot be read."""
    remote = hook.arguments[0] if hook.arguments else ""
    pushed = read_refs(read_input())
    code = 0
    judges = judges_of(hook.event()) if pushed else []
    for ref in pushed:
        event = hook.event(range_of(hook.repo, ref, remote))
        event.push, event.remote = ref, without_credentials(remote)
        code = max(code, say(hook, decide(event, judges)))
        if any(name.startswith("pre-issue-") for judge in judges for name in judge.program.triggers):
            from ahp.hosts.issue_transitions import gates_of

            code = max([code, *(say(hook, decide(gate)) for gate in gates_of(event))])
    if code == 0:
        bypass.check_push(hook, pushed)
    return code
