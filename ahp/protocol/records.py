"""The lines of the signal log (design §7; seed 002 §6.2).  [light]

Every record is a plain mapping with a `kind`; the journal adds `prev`. Signals and responses begin with the seed's six
keys. Readers skip kinds that they do not know.
"""

from ahp.system import digest, environ

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.protocol.event import Event
    from ahp.protocol.signals import Signal

KINDS = (
    "genesis",
    "policy",
    "signal",
    "response",
    "verdict",
    "count",
    "install",
    "episode-end",
    "bypass",
    "cut",
    "clock",
    "rotation",
    "prune",
    "trust",
    "feedback",
    "skip",
)
_SCISSORS = b" ------------------------ >8 ------------------------"


def about(event: "Event") -> dict[str, object]:
    """What signals and verdicts alike tell of their event: whose it is, what it started from, what it changes."""
    told: dict[str, object] = {"subject": event.subject, "host": event.host, "actor": str(event.actor)}
    if event.session:
        told["session"] = event.session
    if trace := environ.traceparent(event.env):
        told["traceparent"] = trace
    told["attempt"] = event.attempt
    if event.view is not None and (change := event.view.digest()):
        told["change"] = change
    return told


def verdict(
    timestamp: str, event: "Event", decision: str, policy: str, facts: dict[str, object], ms: float, **more: object
) -> dict[str, object]:
    """An evaluation with the scalar facts it read, from which a policy can be tried on the past.

    `ms` is how long it took, `policy` the digest; empty values of `more` are left out.
    """
    told: dict[str, object] = {"timestamp": timestamp, "hook": event.trigger, "kind": "verdict", "decision": decision}
    told |= {**about(event), "policy": policy, "facts": facts, "ms": round(ms, 1)}
    if event.actor.kind == "agent":
        told["agent"] = event.actor.name
    if event.issue:
        told["issue"] = event.issue
    if event.push is not None:
        told |= {"head": event.push.local_oid, "target": event.push.remote_ref}
        if event.view is not None and (base := event.view.boundaries()):
            told["base"] = base
    elif event.repo is not None:
        told["head"] = event.repo.head_id()
    if event.draft is not None:
        told["message"] = message_digest(event.draft)
    return told | {name: value for name, value in more.items() if value}


def message_digest(message: bytes) -> str:
    """The digest of a commit message, the same of the draft that commit-msg sees and of the commit: no comments, no
    blank lines, no blanks at line ends, nothing below git's scissors.
    """
    kept = []
    for line in message.splitlines():
        if line.startswith(b"#"):
            if line.endswith(_SCISSORS):
                break
        elif line.strip():
            kept.append(line.rstrip())
    return digest.tagged(b"\n".join(kept))


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
