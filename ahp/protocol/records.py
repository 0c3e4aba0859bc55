"""The lines of the signal log (design §7; seed 002 §6.2).

Every record is a plain mapping with a `kind`; the journal adds `prev`. Signals and responses begin with the seed's six
keys. Readers skip kinds that they do not know.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.protocol.signals import Signal

KINDS = (
    "genesis",
    "signal",
    "response",
    "verdict",
    "count",
    "install",
    "episode-end",
    "delivery",
    "bypass",
    "rotation",
    "trust",
    "feedback",
)


def verdict(
    timestamp: str, hook: str, decision: str, subject: str, facts: dict[str, object], **more: object
) -> dict[str, object]:
    """A clean evaluation with the scalar facts it read, from which a policy can be tried on the past."""
    return {
        "timestamp": timestamp,
        "hook": hook,
        "kind": "verdict",
        "decision": decision,
        "subject": subject,
        "facts": facts,
        **more,
    }


def signal(signal: "Signal", **more: object) -> dict[str, object]:
    """A delivered signal, not yet answered. `more` has rule, declared, subject, message, facts, evidence and so on."""
    header = signal.header
    return {
        "timestamp": header["timestamp"],
        "hook": signal.context["hook"],
        "intensity": header["intensity"],
        "source": header["source"],
        "consumed": False,
        "action": None,
        "kind": "signal",
        "id": header["id"],
        "type": header["type"],
        "correlation_id": header["correlation_id"],
        **more,
    }


def response(of: dict[str, object], timestamp: str, action: str, by: str, **more: object) -> dict[str, object]:
    """The answer `action` to the logged signal `of`."""
    return {
        "timestamp": timestamp,
        "hook": of["hook"],
        "intensity": of["intensity"],
        "source": of["source"],
        "consumed": True,
        "action": action,
        "kind": "response",
        "id": of["id"],
        "by": by,
        **more,
    }


def other(kind: str, timestamp: str, **more: object) -> dict[str, object]:
    """A record of one of the kinds that have no fixed keys beyond time and kind."""
    return {"timestamp": timestamp, "kind": kind, **more}
