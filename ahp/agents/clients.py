"""The table of clients: a class each, with what its hooks send and understand (docs/adding-a-host.md).  [light]"""

from ahp.system import jsontext
from ahp.system.errors import AhpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Unreadable(AhpError):
    """What the client sent is not what its contract says."""


class Asked:
    """One call of a hook.

    `event` is the client's own name of what happens, `trigger` ours; `session` and `call` its ids, "" where it tells
    none; `folder` where the agent works; `tool` the client's name of the tool, with `input` and, afterwards, `output`
    and `is_error`; `again` says that the agent was kept from stopping just before; `in_box` is what `boxing.settle`
    found.
    """

    __slots__ = (
        *("again", "call", "event", "folder", "in_box", "input", "is_error", "output", "session", "tool", "trigger"),
    )

    def __init__(self, event: str, trigger: str) -> None:
        self.event, self.trigger = event, trigger
        self.session = self.call = self.folder = self.tool = ""
        self.input: dict[str, object] = {}
        self.in_box: Any = None
        self.output: str | None = None
        self.is_error = self.again = False


class Client:
    """The dialect that Claude Code began: `hook_event_name` on standard input, `hookSpecificOutput` on the output.

    `EVENTS` are its names of events → triggers, `CALL` the event before a tool runs, `MUTE` events without a place for
    words to the model, `DENIED` the exit code of a refusal, `ALLOWED` what is printed at an event that has nothing to
    say where silence would not do, `FOLDERS` variables that name the project's folder. For `ahp install` and `ahp
    doctor`: `SETTINGS` and `HOME_SETTINGS` (the file, from the top of the project and from the home), `PLUGIN` (the
    template of a file that is ours as a whole, "" where our hooks are entries), `BEGIN` (what a new one begins with),
    `FOUND` (files that tell that the client is used here), `ROOT` (the project's folder in `sh`), `TRUST` (what a
    person has to do, "" for nothing).
    """

    EVENTS = {  # noqa: RUF012  # tables are never changed
        "PreToolUse": "pre-tool-use",
        "PostToolUse": "post-tool-use",
        "PostToolUseFailure": "post-tool-use",
        "UserPromptSubmit": "prompt-submit",
        "SessionStart": "session-start",
        "Stop": "task-complete",
    }
    CALL, STOP, FAILED = "PreToolUse", "Stop", "PostToolUseFailure"
    MUTE: "tuple[str, ...]" = ()
    DENIED = 2  # clients that cannot read the answer refuse by it, too
    ALLOWED: "dict[str, dict[str, object]]" = {}  # noqa: RUF012
    FOLDERS: "tuple[str, ...]" = ()
    SETTINGS = HOME_SETTINGS = PLUGIN = TRUST = ""
    BEGIN, ROOT = "{}\n", "."
    FOUND: "tuple[str, ...]" = ()
    _SESSION: "tuple[str, ...]" = ("session_id",)
    _CALL_ID: "tuple[str, ...]" = ("tool_use_id", "prompt_id", "turn_id")
    _TOOL, _INPUT = "tool_name", "tool_input"

    def read(self, payload: "dict[str, object]", event: str) -> Asked:
        """What is asked. Raises Unreadable."""
        asked = Asked(event, self.EVENTS[event])
        asked.session, asked.folder = _text(payload, *self._SESSION), _text(payload, "cwd")
        asked.call, asked.again = _text(payload, *self._CALL_ID), self._is_again(payload)
        if asked.trigger.endswith("tool-use"):
            asked.tool = _text(payload, self._TOOL)
            if not asked.tool:
                raise Unreadable(f"{self._TOOL} is missing")
            asked.input = _arguments(payload, self._INPUT)
            if asked.trigger.startswith("post"):
                self._read_answer(payload, asked)
        return asked

    def _is_again(self, payload: "dict[str, object]") -> bool:
        return payload.get("stop_hook_active") is True

    def _read_answer(self, payload: "dict[str, object]", asked: Asked) -> None:
        asked.is_error, response = asked.event == self.FAILED, payload.get("tool_response")
        said = response.values() if isinstance(response, dict) else (response,)
        texts = [one for one in said if isinstance(one, str) and one]
        asked.output = _text(payload, "error", "error_message", "tool_output") or "\n".join(texts)

    def probe(self, event: str, tool: str) -> "dict[str, object]":
        """A call of a tool, as short as the client could send it."""
        return {"hook_event_name": event, "session_id": "ahp-doctor", self._TOOL: tool, self._INPUT: {}}

    def deny(self, event: str, reason: str) -> "dict[str, object]":
        """The refusal: no key but these, since Codex drops an answer with others."""
        if event == self.CALL:
            return _specific(event, permissionDecision="deny", permissionDecisionReason=reason)
        return {"decision": "block", "reason": reason}

    def context(self, event: str, said: str) -> "dict[str, object] | None":
        """Words for the model; where the event has no place for them, for the user; None at a `MUTE` one."""
        return {"systemMessage": said} if event == self.STOP else _specific(event, additionalContext=said)

    def rewrite(self, event: str, arguments: "dict[str, object]", said: str) -> "dict[str, object]":
        """Other arguments for the tool. Without a decision, so that the user's own permissions still hold."""
        return _specific(event, updatedInput=arguments, additionalContext=said)

    def entry(self, event: str, command: str, timeout: int, refuses: bool) -> "dict[str, object]":
        """The entry of one event in the settings; `timeout` in whole seconds, for Codex drops a file with any other."""
        return {"hooks": [{"type": "command", "command": command, "timeout": timeout}]}

    def switched_off(self, settings: "dict[str, object]") -> str:
        """What in a settings file keeps the client from running hooks, "" when nothing does."""
        return ""


class Claude(Client):
    """Claude Code 2.1 (code.claude.com/docs/en/hooks)."""

    FOLDERS = ("CLAUDE_PROJECT_DIR",)
    SETTINGS = HOME_SETTINGS = ".claude/settings.json"
    FOUND = (".claude", "CLAUDE.md")
    ROOT = "${CLAUDE_PROJECT_DIR:-.}"

    def entry(self, event: str, command: str, timeout: int, refuses: bool) -> "dict[str, object]":
        """`onFailure` holds from 2.1.295 on."""
        more = {"onFailure": "block"} if refuses else {}
        return {"hooks": [{"type": "command", "command": command, "timeout": timeout, **more}]}

    def switched_off(self, settings: "dict[str, object]") -> str:
        switches = ("disableAllHooks", "allowManagedHooksOnly")
        return next((f"{name} is set" for name in switches if settings.get(name) is True), "")


class Codex(Client):
    """OpenAI Codex CLI 0.169 (developers.openai.com/codex/hooks). It has no event of its own for a tool that failed."""

    EVENTS = {name: trigger for name, trigger in Client.EVENTS.items() if name != Client.FAILED}  # noqa: RUF012
    SETTINGS = HOME_SETTINGS = ".codex/hooks.json"
    FOUND = (".codex",)
    TRUST = (
        "Codex runs these hooks only once you have trusted them: start `codex` in this folder, trust the project, then "
        "accept each hook in /hooks; an untrusted hook is skipped without a word"
    )

    def rewrite(self, event: str, arguments: "dict[str, object]", said: str) -> "dict[str, object]":
        """Codex takes other arguments with `allow` only."""
        return _specific(event, permissionDecision="allow", updatedInput=arguments, additionalContext=said)

    def switched_off(self, settings: "dict[str, object]") -> str:
        """What makes Codex drop a hooks file as a whole."""
        foreign = [key for key in settings if key not in ("hooks", "description")]
        return f"Codex drops a hooks.json with the key {foreign[0]}" if foreign else ""


class Gemini(Client):
    """Gemini CLI 0.61 (geminicli.com/docs/hooks). Before a tool there is no place for words to the model."""

    EVENTS = {  # noqa: RUF012
        "BeforeTool": "pre-tool-use",
        "AfterTool": "post-tool-use",
        "BeforeAgent": "prompt-submit",
        "AfterAgent": "task-complete",
        "SessionStart": "session-start",
    }
    CALL, STOP = "BeforeTool", "AfterAgent"
    MUTE = ("BeforeTool",)
    FOLDERS = ("GEMINI_PROJECT_DIR",)
    SETTINGS = HOME_SETTINGS = ".gemini/settings.json"
    FOUND = (".gemini", "GEMINI.md")
    ROOT = "${GEMINI_PROJECT_DIR:-.}"
    TRUST = (
        "Gemini CLI loads a project's hooks only in a folder that you trust: start `gemini` here and trust the folder; "
        "with --skip-trust alone they are skipped without a word"
    )

    def deny(self, event: str, reason: str) -> "dict[str, object]":
        """`ask` is never an answer: without a person it hangs for ever."""
        return {"decision": "deny", "reason": reason}

    def context(self, event: str, said: str) -> "dict[str, object] | None":
        return None if event in self.MUTE else super().context(event, said)

    def rewrite(self, event: str, arguments: "dict[str, object]", said: str) -> "dict[str, object]":
        """They are laid over those it had. The model is told so by the client itself."""
        return {**_specific(event, tool_input=arguments), **({"systemMessage": said} if said else {})}

    def entry(self, event: str, command: str, timeout: int, refuses: bool) -> "dict[str, object]":
        """Gemini CLI counts milliseconds."""
        return {"hooks": [{"type": "command", "name": "ahp", "command": command, "timeout": timeout * 1000}]}

    def switched_off(self, settings: "dict[str, object]") -> str:
        hooks = settings.get("hooksConfig")
        return "hooksConfig.enabled is false" if isinstance(hooks, dict) and hooks.get("enabled") is False else ""


class Copilot(Client):
    """GitHub Copilot CLI 1.0 (docs.github.com/copilot/concepts/agents/coding-agent/about-hooks).

    Its payloads do not name the event, so the command does. It also runs the hooks of `.claude/settings.json`.
    """

    EVENTS = {  # noqa: RUF012
        "preToolUse": "pre-tool-use",
        "postToolUse": "post-tool-use",
        "userPromptSubmitted": "prompt-submit",
        "agentStop": "task-complete",
        "sessionStart": "session-start",
    }
    CALL, STOP = "preToolUse", "agentStop"
    SETTINGS = ".github/hooks/ahp.json"
    HOME_SETTINGS = ".copilot/hooks/ahp.json"
    BEGIN = '{\n  "version": 1\n}\n'
    FOUND = (".github/hooks", ".github/copilot-instructions.md")
    TRUST = (
        "Copilot CLI loads a project's hooks only in a folder that you trust: start `copilot` here and trust the folder"
    )
    _SESSION, _CALL_ID, _TOOL, _INPUT = ("sessionId",), ("toolCallId",), "toolName", "toolArgs"

    def _read_answer(self, payload: "dict[str, object]", asked: Asked) -> None:
        result = payload.get("toolResult")
        if isinstance(result, dict):
            asked.output = _text(result, "textResultForLlm")
            asked.is_error = _text(result, "resultType") not in ("", "success")

    def probe(self, event: str, tool: str) -> "dict[str, object]":
        return {"sessionId": "ahp-doctor", self._TOOL: tool, self._INPUT: {}}

    def deny(self, event: str, reason: str) -> "dict[str, object]":
        """As others do it, flat."""
        if event == self.CALL:
            return {"permissionDecision": "deny", "permissionDecisionReason": reason}
        return super().deny(event, reason)

    def context(self, event: str, said: str) -> "dict[str, object] | None":
        return super().context(event, said) if event == self.STOP else {"additionalContext": said}

    def rewrite(self, event: str, arguments: "dict[str, object]", said: str) -> "dict[str, object]":
        return _told(permissionDecision="allow", modifiedArgs=arguments, additionalContext=said)

    def entry(self, event: str, command: str, timeout: int, refuses: bool) -> "dict[str, object]":
        return {"type": "command", "bash": command, "timeoutSec": timeout}

    def switched_off(self, settings: "dict[str, object]") -> str:
        return "" if settings.get("version") == 1 else "`version` is not 1"


class OpenCode(Client):
    """opencode 1.18 (opencode.ai/docs/plugins), which has plugins and no commands.

    Our plugin, `hooks/agents/opencode.js`, runs the command and does what it answers; so the words are ours. Words
    before a tool it keeps for the tool's result.
    """

    EVENTS = {  # noqa: RUF012
        "tool.execute.before": "pre-tool-use",
        "tool.execute.after": "post-tool-use",
        "chat.message": "prompt-submit",
        "experimental.chat.system.transform": "session-start",
    }
    CALL = "tool.execute.before"
    SETTINGS = ".opencode/plugins/ahp.js"
    HOME_SETTINGS = ".config/opencode/plugins/ahp.js"
    PLUGIN, BEGIN = "agents/opencode.js", ""
    FOUND = (".opencode", "opencode.json", "opencode.jsonc")

    def deny(self, event: str, reason: str) -> "dict[str, object]":
        """The plugin throws the reason, which the model reads as the tool's result."""
        return {"decision": "deny", "reason": reason}

    def context(self, event: str, said: str) -> "dict[str, object] | None":
        return {"additionalContext": said}

    def rewrite(self, event: str, arguments: "dict[str, object]", said: str) -> "dict[str, object]":
        return _told(args=arguments, additionalContext=said)


class Cursor(Client):
    """Cursor (cursor.com/docs/agent/hooks), by the hook engine that npm's @cursor/sdk 1.0.18 ships; not run here.

    It also runs the hooks of `.claude/settings.json`, and takes these answers there, too.
    """

    EVENTS = {  # noqa: RUF012
        "preToolUse": "pre-tool-use",
        "postToolUse": "post-tool-use",
        "postToolUseFailure": "post-tool-use",
        "beforeSubmitPrompt": "prompt-submit",
        "sessionStart": "session-start",
        "stop": "task-complete",
    }
    CALL, STOP, FAILED = "preToolUse", "stop", "postToolUseFailure"
    DENIED = 0  # of a hook that exits with 2 Cursor shows the whole output as it is, and the agent reads none of it
    ALLOWED = {"preToolUse": {"permission": "allow"}}  # noqa: RUF012  # with `failClosed` an empty answer is a refusal
    FOLDERS = ("CURSOR_PROJECT_DIR",)
    SETTINGS = HOME_SETTINGS = ".cursor/hooks.json"
    BEGIN = '{\n  "version": 1\n}\n'
    FOUND = (".cursor", ".cursorrules")
    ROOT = "${CURSOR_PROJECT_DIR:-.}"
    TRUST = "Cursor runs a project's hooks only in a workspace that you trust: open the folder and trust it"
    _SESSION, _CALL_ID = ("session_id", "conversation_id"), ("tool_use_id", "generation_id")

    def _is_again(self, payload: "dict[str, object]") -> bool:
        count = payload.get("loop_count")
        return isinstance(count, int) and count > 0

    def probe(self, event: str, tool: str) -> "dict[str, object]":
        return {**super().probe(event, tool), "cursor_version": "ahp-doctor"}

    def deny(self, event: str, reason: str) -> "dict[str, object]":
        """A task's end has no other refusal than the words with which the agent goes on."""
        if event == self.STOP:
            return {"followup_message": reason}
        if event in ("beforeSubmitPrompt", "sessionStart"):
            return {"continue": False, "user_message": reason}
        return {"permission": "deny", "user_message": reason, "agent_message": reason}

    def context(self, event: str, said: str) -> "dict[str, object] | None":
        if event == self.STOP:
            return {"user_message": said}
        return {**self.ALLOWED.get(event, {}), "additional_context": said}

    def rewrite(self, event: str, arguments: "dict[str, object]", said: str) -> "dict[str, object]":
        return _told(permission="allow", updated_input=arguments, additional_context=said)

    def entry(self, event: str, command: str, timeout: int, refuses: bool) -> "dict[str, object]":
        return {"command": command, "timeout": timeout, **({"failClosed": True} if refuses else {})}

    def switched_off(self, settings: "dict[str, object]") -> str:
        """What makes Cursor drop a hooks file."""
        return "" if settings.get("version") == 1 else "`version` is not 1"


CLIENTS: "dict[str, Client]" = {
    "claude": Claude(),
    "codex": Codex(),
    "gemini": Gemini(),
    "copilot": Copilot(),
    "opencode": OpenCode(),
    "cursor": Cursor(),
}


def speaker(client: str, payload: "dict[str, object]") -> str:
    """Whose words a payload is in: some clients also run the hooks of another's settings. "" for one nobody knows."""
    if "cursor_version" in payload:
        return "cursor"
    if "toolName" in payload or ("sessionId" in payload and "session_id" not in payload):
        return "copilot"
    return "gemini" if payload.get("hook_event_name") in ("BeforeTool", "AfterTool") else client


def event_of(client: str, event: str, speaker: str) -> str:
    """What `speaker` calls the event that the hook of `client` was installed for; the name itself where it has none."""
    trigger = CLIENTS[client].EVENTS.get(event, "")
    same = [name for name, its in CLIENTS[speaker].EVENTS.items() if its == trigger]
    return event if client == speaker or not same else same[0]


def _text(payload: "dict[str, object]", *names: str) -> str:
    """The first of these fields that is a text, "" where none is."""
    return next((value for name in names if isinstance(value := payload.get(name), str)), "")


def _arguments(payload: "dict[str, object]", name: str) -> "dict[str, object]":
    """A tool's arguments; some versions send them as JSON in a text. Raises Unreadable where they are no object."""
    value = payload.get(name)
    try:
        value = jsontext.decode(value) if isinstance(value, str) else value
    except ValueError:
        raise Unreadable(f"{name} is no JSON") from None
    if not isinstance(value, dict | None):
        raise Unreadable(f"{name} is no object")
    return value or {}


def _told(**fields: object) -> "dict[str, object]":
    """The fields, without words for the model where there are none."""
    return {name: value for name, value in fields.items() if value != ""}


def _specific(event: str, **fields: object) -> "dict[str, object]":
    return {"hookSpecificOutput": {"hookEventName": event, **_told(**fields)}}
