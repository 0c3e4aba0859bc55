"""Where one conversation of a run stood when its events end: the run's own, or that of a step beside others."""

from collections.abc import Sequence
from typing import Any

from ahp.protocol.signals import Signal
from ahp.runner.run import prompts
from ahp.runner.run.conversation import Conversation
from ahp.runner.run.events import Event, Kind
from ahp.runner.run.prompts import Frames


class Cursor:
    """Read from the events of one conversation after the other.

    `open_call` is the tool that may have run without a recorded result, `results` the (tool, text, advice, id of the
    call) that the model has not read, `calls_left` how many calls of its last reply were not made, `reply_open` whether
    that was not acted on at all, `asking` whether it was asked and has not answered.
    """

    def __init__(self, system: str = "") -> None:
        self.system = system
        self.conversation: Conversation | None = None
        self.results: list[tuple[str, str, str, str]] = []
        self.calls_left = 0
        self.open_call: str | None = None
        self.reply_open = False
        self.asking = False
        self.notes: list[str] = []
        self.delivered: dict[str, Signal] = {}
        self.waiting: dict[str, Signal] = {}
        self.call: tuple[str, Any] = ("", None)
        self._call_id = ""

    def hear(self, event: Event) -> None:
        """Takes in what an event tells of this conversation."""
        kind: Kind = event["event"]
        match kind:
            case "message":
                self._take(str(event["role"]), str(event["content"]))
            case "conversation":
                self.conversation = Conversation(self.system, str(event["head"]), str(event["opening"]))
                self.reply_open = False
                self._told()
            case "trimmed":
                self._trim(event)
            case "state":
                self.asking = False
                # A run that was killed with its answer on the way out has not given it.
                self.reply_open = self.reply_open and event["state"] == "DONE"
            case "model_request":
                self.asking = True
            case "model_answer":
                self.asking, self.reply_open = False, True
            case (
                "planning_retry" | "malformed_reply" | "intercepted" | "answered" | "plan_generated" | "control_signal"
            ):
                self.reply_open = False
            case "tool_call":
                self.call, self._call_id = (str(event["tool"]), event["args"]), str(event["id"])
                self.calls_left = int(event["left"])
                self.reply_open = False
            case "tool_result":
                self.results.append((str(event["tool"]), str(event["text"]), str(event["advice"]), self._call_id))
                self.open_call = None
            case "verdict":
                self._judged(event)
            case "note":
                self.notes.append(str(event["text"]))
            case "response":
                self.waiting.pop(event["signal_id"], None)
                self.reply_open = self.reply_open and "automatic" in event["details"]

    @property
    def unheard(self) -> bool:
        """Whether its last request comes again when the run goes on."""
        return self.asking or self.reply_open

    def broken_off(self, frames: Frames, changed: Sequence[str] = ()) -> str:
        """What the model has to know of the end of these events, and which files have `changed` since."""
        unread = [prompts.result(tool, text, advice, frames, name) for tool, text, advice, name in self.results]
        return prompts.broken_off(
            unread, self.open_call, unheard=self.reply_open, calls_left=self.calls_left, changed=changed
        )

    def _take(self, role: str, content: str) -> None:
        if role == "system":
            self.system = content
            return
        if self.conversation is None:
            raise ValueError("a message outside of a conversation")
        self.conversation.take_up(role, content)
        self.reply_open = role == "assistant"
        if role == "user":
            self._told()

    def _told(self) -> None:
        self.results, self.open_call, self.calls_left, self.notes = [], None, 0, []

    def _trim(self, event: Event) -> None:
        if self.conversation is None:
            raise ValueError("nothing was said that could be trimmed")
        for _ in range(int(event["pairs"])):
            self.conversation.drop_oldest()
        for chars in event["cuts"]:
            self.conversation.cut(int(chars))

    def _judged(self, event: Event) -> None:
        denied = event["decision"] == "deny"
        if event["trigger"] == "pre-tool-use":
            self.open_call = None if denied else self.call[0]
        for given in event["signals"]:
            signal = Signal(given["header"], given["context"], given["payload"])
            self.delivered[signal.id] = signal
            if signal.intensity == "prompt" and not denied:
                self.waiting[signal.id] = signal
