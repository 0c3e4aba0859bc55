"""`proceed_with_risk`: a person lets one rule pass for what one change is, and the commit says so (authority §5).

The hook commit-msg looks for the lines in every message that it judges.  [light]
"""

from ahp.journal.append import Journal
from ahp.protocol.text import one_line
from ahp.protocol.triggers import TRIGGERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ahp.journal.episodes import Act, LoggedSignal
    from ahp.protocol.event import Event
    from ahp.system.git import Repository
    from ahp.system.view import View

TRAILER = "Ahp-Override"
_REASON = 300
_DIGEST = len("sha256:") + 64
_LOOKED_AT = 200_000  # lines of the log


class Override:
    """A person's leave for one rule: the id of the signal that it answers, the rule, who gave it and why.

    `digest` is the rule's, `evidence` of what the change is (`evidence`): it holds for no other. `skip` is the id of
    the skip by which it was given in advance, "" without; `signal` is then the one that the attempt itself leaves.
    """

    __slots__ = ("by", "digest", "evidence", "reason", "rule", "signal", "skip")

    def __init__(
        self, signal: str, rule: str, digest: str, evidence: str, by: str, reason: str, skip: str = ""
    ) -> None:
        self.signal, self.rule, self.digest, self.evidence = signal, rule, digest, evidence
        self.by, self.reason, self.skip = by, reason, skip

    @property
    def trailer(self) -> str:
        """The line that a commit made under this override carries."""
        return f"{TRAILER}: {one_line(self.rule)} {self.digest} {self.evidence} {one_line(self.reason, _REASON)}"

    @property
    def bound(self) -> tuple[str, str, str]:
        """What its line is known by: rule, rule digest, evidence."""
        return one_line(self.rule), self.digest, self.evidence


def find(
    risks: "Iterable[LoggedSignal]", act: "Act", event: "Event", *, digest: str, evidence: str, overridable: bool
) -> "Override | None":
    """The override that lets `act` of `event` pass, among the `proceed_with_risk` answers to this rule
    (`State.risks_taken`).

    It must be for the rule as it is (`digest`) and the same `evidence`; what was given to a person serves no agent. At
    a commit it is spent once HEAD has moved, by another attempt, or a commit with its line is here; the hooks of one
    git command are one. At a push it is for the same tip, as often as that is tried. Always None for a rule that cannot
    be overridden. Raises GitError.
    """
    from ahp.journal.answers import kind_of

    for signal in risks if overridable else ():
        if not evidence or (signal.rule_digest, signal.content) != (digest, evidence):
            continue
        if event.actor.kind != "human" and kind_of(signal.actor) != event.actor.kind:
            continue
        override, spent = _override(signal), signal.spent
        if TRIGGERS[act.hook].family == "push":
            holds = signal.act.head == act.head
        elif spent is None or spent.same(act):
            holds = True
        else:
            is_tried_again = act.head is not None and act.head == spent.head
            holds = is_tried_again and not _is_carried(override, event.repo, act.head or "")
        if holds:
            return override
    return None


def _is_carried(override: Override, repo: "Repository | None", since: str) -> bool:
    """Whether a commit of a branch or tag here that is newer than the commit `since` has the override's line."""
    if repo is None:
        return False
    line = f"--grep={TRAILER}: {' '.join(override.bound)}"
    older = [f"^{since}"] if since and repo.commit_id(since) else []
    return repo.line("rev-list", "--max-count=1", "--fixed-strings", line, "--all", "HEAD", *older) != ""


def of_commit(
    folder: str, message: bytes, *, rule: str, digest: str, evidence: str, overridable: bool
) -> "Override | None":
    """The override that a commit with this `message` carries for a rule that it breaks: where line and log agree.

    `folder` is the log's. It holds as often as the commit is judged, until the remote has it. Raises AhpError.
    """
    wanted = (one_line(rule), digest, evidence)
    if not overridable or wanted not in lines(message):
        return None
    return next(iter(_given(folder, [wanted])), None)


def trailers(event: "Event", *views: "View") -> list[str]:
    """The trailer lines that the commit of a commit-msg event has to carry: one for each override that it passed under.

    `views` are what its hooks have seen of the change: a merge brings more to HEAD than it changes itself. The message
    of an amend is judged with another change, where those count that this command has used. Raises AhpError when the
    log cannot be read.
    """
    journal = Journal(event.journal, event.genesis)
    if not journal.index().has_open(TRIGGERS[event.trigger].family, event.subject, event.actor.kind):
        return []  # what passes under an override has an episode that is still open
    from ahp.journal.state import State

    changes = {view.digest() for view in views} - {""}
    with State.open(journal) as state:
        spent = [
            (signal, signal.spent)
            for signal in state.risks_taken(None)
            if signal.spent and signal.intensity != "prompt"
        ]
    used = [_override(signal) for signal, by in spent if by.change in changes or by.token == event.attempt]
    return list(dict.fromkeys(override.trailer for override in used))


def unknown(folder: str, message: bytes) -> list[str]:
    """The override lines of `message` that the log in `folder` has no answer of a person for. Raises AhpError."""
    found = lines(message)
    if not found:
        return []
    known = {override.bound for override in _given(folder, [bound for bound in found if bound])}
    return [line for bound, line in found.items() if bound not in known]


def lines(message: bytes) -> "dict[tuple[str, str, str], str]":
    """The override lines anywhere in a message, also indented: (rule, rule digest, evidence) → the line.

    One that is none of ours has three empty texts. A comment of git's is no line.
    """
    found = {}
    mark = TRAILER.lower() + ":"
    for line in message.decode("utf-8", "replace").splitlines() if mark.encode() in message.lower() else ():
        text = line.strip()
        if text.lower().startswith(mark):
            found[_bound(text[len(mark) :].strip())] = text
    return found


def _bound(text: str) -> tuple[str, str, str]:
    """RULE RULE-DIGEST EVIDENCE REASON; a rule's key may hold blanks."""
    at = text.find(" sha256:")
    digest, evidence = text[at + 1 : at + 1 + _DIGEST], text[at + 2 + _DIGEST : at + 2 + 2 * _DIGEST]
    whole = at > 0 and len(evidence) == _DIGEST and evidence.startswith("sha256:")
    return (text[:at], digest, evidence) if whole else ("", "", "")


def _given(folder: str, wanted: "Collection[tuple[str, str, str]]") -> "list[Override]":
    """The overrides among the `wanted` that a person gave, as the log says."""
    if not wanted:
        return []
    from ahp.journal import segments
    from ahp.journal.answers import RISK, kind_of

    missing, found = set(wanted), []
    for number, line in enumerate(segments.backward(folder)):
        if not missing or number >= _LOOKED_AT:
            break
        record = line.record() if RISK.encode() in line.raw else None
        if not record or record.get("action") != RISK or kind_of(str(record.get("by"))) != "human":
            continue
        id, rule, digest, evidence, by = (str(record.get(name) or "") for name in _RESPONSE)
        details = record.get("details")
        reason = str(details.get("reason") or "") if isinstance(details, dict) else ""
        override = Override(id, rule, digest, evidence, by, reason)
        if override.bound in missing:
            missing.discard(override.bound)
            found.append(override)
    return found


_RESPONSE = ("id", "rule", "digest", "content", "by")


def _override(signal: "LoggedSignal") -> Override:
    reason = str((signal.details or {}).get("reason") or "")
    return Override(signal.id, signal.rule, signal.rule_digest, signal.content, signal.by, reason)
