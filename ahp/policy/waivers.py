"""`.ahp/waivers.yaml`: rules that a person excused for a while (design §7)."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError

from ahp.policy import vendored, yamltext
from ahp.policy.cache import WAIVERS
from ahp.policy.problems import PolicyError, Problem, nearest, quoted
from ahp.protocol.text import one_line
from ahp.system.yamltree import Node

PATH = WAIVERS
LONGEST_DAYS = 90
WARNED_DAYS = 7

_BRANCHES = "refs/heads/"
_SIGNS = frozenset("*?[")  # of patterns; git has none of them in a branch's name

# Keys as other tools call them.
_KNOWN_AS = {
    **dict.fromkeys(("until", "expiry", "expires_at", "end"), "expires"),
    **dict.fromkeys(("by", "owner", "author", "approved_by"), "approver"),
    **dict.fromkeys(("branch", "for", "on"), "subject"),
    **dict.fromkeys(("why", "comment", "message"), "reason"),
    "id": "rule",
}
_EXPECTED = {
    "expires": "a day like 2026-02-09",
    "digest": "`sha256:` and 64 hexadecimal digits, as `ahp policy show --all` prints them",
    **dict.fromkeys(("rule", "subject", "reason", "approver"), "a text of one line"),
}
_Line = Annotated[str, StringConstraints(min_length=1, max_length=1024, pattern=r"^[^\x00-\x1f\x7f]+$")]


def _date(value: object) -> object:
    """A text as the day that it names; anything else unchanged."""
    try:
        return datetime.date.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return value


class Waiver(BaseModel):
    """One rule excused on one subject until a day."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    rule: _Line
    """The rule's key: a short rule's id, else `oracle/id`."""
    subject: _Line
    """The issue, branch or session that it is excused on, which is no pattern; `*` for all."""
    reason: _Line
    """Why; shown with every signal that it excuses."""
    approver: _Line
    """Who answers for it."""
    expires: Annotated[datetime.date, BeforeValidator(_date)]
    """The last day it holds, at most 90 days ahead."""
    repository: _Line | None = None
    """Only in an organisation's waivers, where it is needed: the repository it is for, `HOST/PATH`; `*` for all."""
    digest: Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")] | None = None
    """The rule as it was approved (`ahp policy show --all`): a rule that was changed is not excused any more. Without
    it a waiver is bound to the rule as it was when it first excused it."""

    def holds(self, rule: str, subject: str, digest: str, today: datetime.date, first_use: str | None = None) -> bool:
        """Whether it excuses this rule, of this digest, on this subject, today.

        `first_use` is the digest that the log has for the first signal it excused, None before that.
        """
        return (
            self.rule == rule
            and self.subject in (subject, "*")
            and (self.digest or first_use or digest) == digest
            and today <= self.expires  # `parse` refuses what would hold too long
        )

    def is_void(self, digests: Mapping[str, str]) -> bool:
        """Whether it excuses nothing, on whatever day; `digests` are those of the policy's rules by key."""
        known = digests.get(self.rule)
        return known is None or self.digest not in (None, known) or bool(_no_subject(self.subject))

    @property
    def name(self) -> str:
        """What a waived signal's record names it by, in its key `waived`."""
        return f"{self.rule} {self.subject} {self.expires}"


class Waivers(BaseModel):
    """The file: a list of waivers."""

    model_config = ConfigDict(frozen=True, strict=True)

    waivers: Annotated[list[Waiver], Field(max_length=1000)] = []

    def find(
        self,
        rule: str,
        subject: str,
        digest: str,
        today: datetime.date,
        first_use: Callable[[str], str | None] = lambda name: None,
    ) -> Waiver | None:
        """The waiver that holds, the one for this subject before one for all; None when none does.

        `first_use` (`State.waived_as`) gives the digest that a waiver's name was first used with.
        """
        holding = [w for w in self.waivers if w.holds(rule, subject, digest, today, first_use(w.name))]
        return min(holding, key=lambda waiver: waiver.subject == "*", default=None)

    def warnings(self, today: datetime.date, digests: dict[str, str] | None = None) -> list[str]:
        """What a person should know: expired, about to expire (a week before), for a subject that nothing has, bound to
        a rule that changed or is gone.

        `digests` maps the keys of the policy's rules to their digests; None leaves that comparison out.
        """
        return [text for waiver in self.waivers if (text := _warning(waiver, today, digests))]


def in_force(read: Callable[[str], bytes | None], today: datetime.date | None = None) -> Waivers:
    """The project's own waivers, then the organisation's for this repository; `read` gives files by their paths.

    Raises PolicyError, AhpError.
    """
    own = parse(read(PATH) or b"", today=today).waivers
    shared = [
        waiver
        for path, data, repository in vendored.waivers_of(lambda path: read(f".ahp/{path}"))
        for waiver in parse(data, f".ahp/{path}", today, shared=True).waivers
        if waiver.repository in ("*", repository)
    ]
    return Waivers.model_construct(waivers=[*own, *shared])


def parse(data: bytes, name: str = PATH, today: datetime.date | None = None, shared: bool = False) -> Waivers:
    """The waivers in a file's bytes. Raises PolicyError with every mistake at `file:line:column`.

    `shared` are those of an organisation, each for a repository.

    An expiry beyond 90 days after `today` (UTC; default: now) is a mistake. One in the past is none, or the file
    would break the gate on the day after its first waiver ends.
    """
    node = yamltext.parse(data, name)
    if node is None:
        return Waivers()
    try:
        waivers = Waivers.model_validate({"waivers": node.plain()})
    except ValidationError as error:
        raise PolicyError(_problem(node, error_) for error_ in error.errors()) from None
    if wrong := [n for n, waiver in enumerate(waivers.waivers) if (waiver.repository is not None) != shared]:
        why = (
            "an organisation's waiver needs `repository`" if shared else "`repository` is for an organisation's waivers"
        )
        raise PolicyError(Problem(node.at((n,)).place, why) for n in wrong)
    latest = (today or now()) + datetime.timedelta(days=LONGEST_DAYS)
    late = [n for n, waiver in enumerate(waivers.waivers) if waiver.expires > latest]
    if late:
        why = f"expires more than {LONGEST_DAYS} days ahead; the latest day is {latest}"
        raise PolicyError(Problem(node.at((n, "expires")).place, why) for n in late)
    return waivers


def now() -> datetime.date:
    """Today in UTC."""
    return datetime.datetime.now(datetime.UTC).date()


def _problem(node: Node, error: Any) -> Problem:
    where: tuple[str | int, ...] = error["loc"][1:]
    field = str(where[-1]) if where else ""
    if error["type"] == "extra_forbidden":
        known = _KNOWN_AS.get(field)
        meant = f"; it is called `{known}`" if known else nearest(field, Waiver.model_fields)
        what = f"unknown key {quoted(field)}{meant}"
        return Problem(node.key_place(where), what)
    if error["type"] == "missing":
        return Problem(node.at(where[:-1]).place, f"a waiver needs `{field}`")
    if not where:
        return Problem(node.place, "the file is a list of waivers: each begins with `- rule: …`")
    place, wanted = node.at(where).place, _EXPECTED.get(field)
    if wanted is None:
        return Problem(place, f"{field}: {error['msg'][:1].lower()}{error['msg'][1:]}")
    return Problem(place, f"`{field}` is {wanted}, not {quoted(error['input'])}")


def _warning(waiver: Waiver, today: datetime.date, digests: dict[str, str] | None) -> str:
    name = f"waiver of {one_line(waiver.rule)} on {one_line(waiver.subject)}"
    left = (waiver.expires - today).days
    if left < 0:
        return f"{name} expired on {waiver.expires}"
    if never := _no_subject(waiver.subject):
        return f"{name} never holds: {never}"
    if digests is not None and waiver.rule not in digests:
        return f"{name}: the policy has no such rule{_meant(waiver.rule, digests)}"
    if digests is not None and waiver.digest is None:
        return f"{name} is bound to no digest; add `digest: {digests[waiver.rule]}`"
    if digests is not None and digests[waiver.rule] != waiver.digest:
        return f"{name} does not hold: the rule has changed since it was approved"
    if left <= WARNED_DAYS:
        return f"{name} expires {'today' if left == 0 else f'in {left} days' if left > 1 else 'tomorrow'}"
    return ""


def _no_subject(subject: str) -> str:
    """Why no issue, branch or session is called so, and what to write; "" where one can be."""
    if subject.startswith(_BRANCHES):
        return f"a branch is its short name; write `{one_line(subject.removeprefix(_BRANCHES))}`"
    if subject != "*" and not _SIGNS.isdisjoint(subject):
        return "a subject is no pattern; name the issue, branch or session, or write `*` for all"
    return ""


def _meant(rule: str, known: Iterable[str]) -> str:
    """The rule that a waiver probably names: a short rule's key is its id alone, without the `/1` of an oracle's."""
    alone = rule.partition("/")[0]
    return f"; did you mean `{alone}`?" if alone in known else nearest(rule, known)


def texts(waivers: Sequence[Waiver]) -> list[str]:
    """One line a waiver, for `ahp policy show`."""
    return [
        one_line(f"{w.rule} on {w.subject} until {w.expires}, by {w.approver}: {w.reason}", limit=400) for w in waivers
    ]
