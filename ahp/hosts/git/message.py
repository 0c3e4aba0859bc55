"""commit-msg: judge the message with the change it describes, and rewrite it where a rule says so."""

from ahp.gate import overrides
from ahp.gate.decide import decide
from ahp.hosts.git.hook import Hook, say
from ahp.system import files
from ahp.system.errors import AhpError
from ahp.system.view import IndexView

_LIMIT = 16 << 20


def judge(hook: Hook) -> int:
    """The hook's exit code. The message file is rewritten only when the commit goes on."""
    path = hook.arguments[0] if hook.arguments else ""
    draft = files.read(path, _LIMIT) if path else None
    if draft is None:
        raise AhpError("git named no message file; is this hook called by git?")
    event = hook.event(IndexView(hook.repo), draft)
    verdict = decide(event)
    code = say(hook, verdict)
    if code:
        return code
    final = verdict.modified.draft if verdict.modified is not None else draft
    assert final is not None
    for trailer in overrides.trailers(event):
        final = _with_trailer(hook, final, trailer)
    if final != draft:
        files.replace(path, final, 0o644)
    return 0


def _with_trailer(hook: Hook, draft: bytes, trailer: str) -> bytes:
    """The message with a trailer line, placed by git itself."""
    return hook.repo.run("interpret-trailers", "--if-exists", "addIfDifferent", "--trailer", trailer, stdin=draft)
