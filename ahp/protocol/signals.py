"""Signals and the answers to them, field for field as seed 002 §2.2 and §3.1–3.4.  [light]"""

ACTIONS_OF = {
    "block": ("retry_after_fix", "proceed_with_risk", "abort"),
    "control": ("accept_modification", "reject_modification"),
    "prompt": ("acknowledge", "apply_suggestion", "dismiss"),
    "aid": ("suggestion_applied", "suggestion_deferred"),
}


class Signal:
    """What a matching rule says: header, context and payload as plain mappings (seed 002 §3.1)."""

    __slots__ = ("context", "header", "payload")

    def __init__(self, header: dict[str, object], context: dict[str, object], payload: dict[str, object]) -> None:
        self.header, self.context, self.payload = header, context, payload

    @property
    def id(self) -> str:
        return str(self.header["id"])

    @property
    def intensity(self) -> str:
        return str(self.header["intensity"])

    def as_dict(self) -> dict[str, object]:
        """The signal as JSON shows it."""
        return {"header": self.header, "context": self.context, "payload": self.payload}


class SignalResponse:
    """An answer (seed 002 §3.4): `consumed_at` is a time stamp, `action` one that fits the signal's intensity."""

    __slots__ = ("action", "consumed_at", "details", "signal_id")

    def __init__(self, signal_id: str, consumed_at: str, action: str, details: dict[str, object] | None = None) -> None:
        self.signal_id, self.consumed_at, self.action, self.details = signal_id, consumed_at, action, details

    def as_dict(self) -> dict[str, object]:
        """The response as JSON shows it; `details` only when there are any."""
        shown: dict[str, object] = {
            "signal_id": self.signal_id,
            "consumed_at": self.consumed_at,
            "action": self.action,
        }
        if self.details:
            shown["details"] = self.details
        return shown


def blocking(reason: str, resolution_path: list[str], resolvable: bool) -> dict[str, object]:
    """The decision structure of a block (seed 002 §2.2)."""
    return {**_decision("block"), "reason": reason, "resolvable": resolvable, "resolution_path": resolution_path}


def controlling(modifications: list[dict[str, object]], reversible: bool) -> dict[str, object]:
    """The decision structure of a control; each modification is `{target, original, updated, reason}`."""
    return {**_decision("control"), "modifications": modifications, "reversible": reversible}


def prompting(message: str, severity: str, suggestions: list[str], continue_allowed: bool) -> dict[str, object]:
    """The decision structure of a prompt."""
    return {
        **_decision("prompt"),
        "severity": severity,
        "message": message,
        "suggestions": suggestions,
        "continue_allowed": continue_allowed,
    }


def aiding(context: str, suggestions: list[dict[str, object]]) -> dict[str, object]:
    """The decision structure of an aid; each suggestion is `{type, description}`."""
    return {**_decision("aid"), "context": context, "suggestions": suggestions}


def reason_of(payload: dict[str, object]) -> str:
    """The sentence of a payload, wherever its level keeps it (design §7)."""
    for key in ("reason", "message", "context"):
        if isinstance(text := payload.get(key), str):
            return text
    modifications = payload.get("modifications")
    if isinstance(modifications, list) and modifications:
        return str(modifications[0].get("reason", ""))
    return ""


def _decision(intensity: str) -> dict[str, object]:
    return {"level": LEVEL_OF[intensity], "decision": DECISION_OF[intensity]}


ALLOW = "allow"
SILENT, UNDECIDED = "silent", "undecided"
"""What a rule says of a change that exists, where it says no level."""

LEVEL_OF = {"block": "blocking", "control": "controlling", "prompt": "prompting", "aid": "aiding"}
DECISION_OF = {
    "block": "deny",
    "control": "allow_with_modification",
    "prompt": "warn",
    "aid": "suggest",
    "allow": "allow",
}
_STRENGTH = {"allow": 0, "aid": 1, "prompt": 2, "control": 3, "block": 4}


def strength(intensity: str) -> int:
    """How compulsory an intensity is: allow 0, aid 1, prompt 2, control 3, block 4."""
    return _STRENGTH[intensity]


def strongest(intensities: list[str]) -> str:
    """The most compulsory of them, `allow` of none."""
    return max(intensities, key=strength, default=ALLOW)
