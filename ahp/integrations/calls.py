"""What the gates of all frameworks share: the begin of a run, a tool call between its gates, an answer, the end."""

import asyncio
import secrets
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pydantic_core import to_jsonable_python

from ahp.hosts.api import Gate
from ahp.protocol.text import failure, one_line
from ahp.protocol.verdict import Verdict
from ahp.system import environ, jsontext, process
from ahp.system.errors import AhpError

RESPOND = "respond_to_gate"
_AHP = (sys.executable, "-P", "-c", "from ahp.cli.start import main; main()")
_VERIFY_TIME = 1800.0


class Refused(AhpError):
    """The gate refuses; the text is for whoever acts, `verdict` says why."""

    def __init__(self, said: str, verdict: Verdict) -> None:
        super().__init__(said)
        self.verdict = verdict


class Calls:
    """One agent's calls in the project that holds `root`; each session has its own facts.

    `kinds` says what a policy calls a tool (`{"bash": "shell"}`); one without a kind is `other`, and counts as writing
    what its arguments name. With `verify` the project's own checks have to be green at the end of a task.
    """

    def __init__(
        self,
        root: Any = ".",
        *,
        host: str,
        agent: str = "",
        kinds: Mapping[str, str] | None = None,
        verify: bool = False,
    ) -> None:
        self._root, self._verify = str(getattr(root, "working_dir", root)), verify
        self._agent, self._host = agent or host, host
        self.gate = self._of("")
        self._kinds = {RESPOND: "read", **(kinds or {})}
        self.session = secrets.token_hex(8)  # of who has no other

    def begin(self, prompt: str, session: str = "") -> None:
        """Asks for a session and its task. Raises Refused, AhpError."""
        self.ask("session-start", session)
        self.ask("prompt-submit", session, prompt=prompt)

    def end(self, session: str = "") -> str:
        """Why a task is not done: what the project's checks or the gate say; "" where it is. Raises AhpError."""
        if why := self.unchecked():
            return why
        try:
            self.ask("task-complete", session)
        except Refused as refused:
            return str(refused)
        return ""

    def unchecked(self) -> str:
        """Why the project's checks are not green; "" where they are, or are not asked. Raises AhpError."""
        return _not_green(self._root) if self._verify else ""

    def answer(self, signal_id: str, action: str, reason: str = "") -> str:
        """Answers a signal of the project's gate by its id: acknowledge, apply_suggestion or dismiss, with a reason."""
        try:
            self.gate.respond(signal_id, action, reason)
        except AhpError as error:
            return str(error)
        return f"{action}, noted"

    def before(self, name: str, args: Mapping[str, Any], session: str) -> tuple[dict[str, Any], str]:
        """The arguments to run with, and what the model reads beside the result. Raises Refused, AhpError."""
        plain = to_jsonable_python(dict(args), fallback=str)
        verdict = self.ask("pre-tool-use", session, tool=self.call(name, plain))
        wanted: Any = plain if verdict.modified is None or not verdict.modified.tool else verdict.modified.tool["input"]
        # What the policy leaves alone keeps its type.
        kept = {key: args[key] if key in args and plain[key] == value else value for key, value in wanted.items()}
        return kept, self.gate.text(verdict)

    def after(self, name: str, args: Mapping[str, Any], session: str, output: object, *, failed: bool) -> str:
        """What the model reads of a result; a refusal comes too late, and is told. Raises AhpError."""
        call = self.call(name, to_jsonable_python(dict(args), fallback=str))
        output = getattr(output, "text", output)
        told = output if isinstance(output, str) else str(to_jsonable_python(output, fallback=str))
        try:
            return self.gate.text(self.ask("post-tool-use", session, tool={**call, "output": told, "is_error": failed}))
        except Refused as refused:
            return str(refused)

    async def around(
        self, name: str, args: Mapping[str, Any], session: str, run: Callable[[dict[str, Any]], Awaitable[Any]]
    ) -> tuple[Any, str]:
        """The result of `run` between its gates, and what the model reads beside it; a refused call is not run."""
        try:
            given, note = await asyncio.to_thread(self.before, name, args, session)
        except AhpError as refused:  # what nobody could judge does not run, either
            return str(refused), ""
        try:
            output = await run(given)
            failed = getattr(output, "status", "") == "error"  # so LangChain tells it
        except Exception as error:
            await asyncio.to_thread(self.after, name, given, session, failure(error), failed=True)
            raise
        said = await asyncio.to_thread(self.after, name, given, session, output, failed=failed)
        return output, "\n".join(filter(None, (note, said)))

    def call(self, name: str, args: Any) -> dict[str, Any]:
        """The fact `tool` of a call."""
        kind = self._kinds.get(name, "other")
        return {"name": kind, "native_name": name, "input": args, **({"writes": True} if kind == "other" else {})}

    def _of(self, session: str, trace: str = "") -> Gate:
        return Gate(self._root, agent=self._agent, session=session, host=self._host, traceparent=trace)

    def ask(self, trigger: str, session: str, trace: str = "", **facts: Any) -> Verdict:
        """The verdict that lets it pass. Raises Refused, AhpError."""
        verdict = self._of(session or self.session, trace).judge(trigger, **facts)
        if verdict.denied:
            raise Refused(self.gate.text(verdict), verdict)
        return verdict


def ahp(folder: str, timeout: float, env: dict[str, str], *arguments: str) -> process.Result:
    """How a command of ahp ended. Raises AhpError, Timeout; ValueError, OSError for what is no argument."""
    return process.capture([*_AHP, *arguments], cwd=folder, env=environ.scrubbed(env), timeout=timeout)


def _not_green(folder: str) -> str:
    """Why the project's checks are not green: red, broken off, or none there; "" where they are. Raises AhpError,
    Timeout.
    """
    done = ahp(folder, _VERIFY_TIME, environ.current(), "verify", "--format", "json")
    if done.code == 0:
        return ""
    try:
        found: Any = jsontext.decode(done.out.decode())
    except ValueError:
        raise AhpError(f"ahp verify failed: {one_line(done.err.decode('utf-8', 'replace'), 300)}") from None
    details = [f"{one['file']}:{one['line'] or ''} {one['error']}" for one in found.get("details", ())[:5]]
    return "\n".join(["The project's checks are not green: " + str(found.get("summary", "")), *details])
