"""How ignored signals climb and mended ones fall back (design §8): pure functions of an episode."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from ahp.journal.episodes import Act, Attempt, Episode
from ahp.policy.program import Escalation
from ahp.protocol.signals import strength

NEXT_REFUSED = "the next one is refused"
"""What a signal says whose next attempt is refused."""


class Ladder(NamedTuple):
    """The policy's `escalation`: rungs from weak to strong, attempts that each lasts, seconds until it is forgotten."""

    rungs: tuple[str, ...]
    after: int
    forget_after: float

    @classmethod
    def of(cls, given: Escalation | None) -> Ladder | None:
        """From the `escalation` of a compiled policy; None where nothing escalates."""
        return None if given is None else cls(tuple(given.ladder), given.after, given.forget_after)

    def rung(self, own: str, passed: int, can_control: bool) -> str:
        """The intensity in force after `passed` attempts went past a rule of intensity `own` (design §8.4).

        The stronger of the rule's own and its rung. A rung `control` that a rule without action cannot take leaves the
        former one in force for its attempts.
        """
        start = next((n for n, rung in enumerate(self.rungs) if strength(rung) >= strength(own)), None)
        if start is None:
            return own
        at = min(start + passed // self.after, len(self.rungs) - 1)
        if self.rungs[at] == "control" and not can_control:
            at -= 1
        return self.rungs[at] if at >= start else own


class Standing(NamedTuple):
    """Where a signal stands.

    `intensity` is the effective one; `nth` the number of this attempt, from 1; `of` how many attempts pass before it
    blocks (0: it never will, or does now); `text` says so, "" where nothing escalates; `correlation_id` is the open
    episode's, "" where this attempt opens one.
    """

    intensity: str
    nth: int
    of: int
    text: str
    correlation_id: str


def standing(
    episode: Episode | None,
    act: Act,
    own: str,
    *,
    ladder: Ladder | None,
    escalates: bool = True,
    can_control: bool = False,
) -> Standing:
    """Where the signal of a rule stands whose own intensity is `own`, for the attempt `act` (design §8).

    `ladder` is the policy's, `escalates` the rule's word about it (§8.1), `can_control` whether it has an action. The
    same attempt, seen by another hook or host, stands where it stood.
    """
    attempt = episode.place(act) if episode else Attempt(act, 0, excused=False)
    known = episode.id if episode else ""
    intensity, of = own, 0
    climbs = ladder is not None and escalates and own in ("prompt", "control")
    if ladder is not None and climbs:
        intensity = ladder.rung(own, attempt.nth, can_control)
        if intensity != "block" and ladder.rungs[-1] == "block":
            of = next(n for n in range(attempt.nth, 10_000) if ladder.rung(own, n, can_control) == "block")
    if intensity == "control" and episode and episode.rejected:
        return Standing("block", attempt.nth + 1, 0, "its modification was rejected", known)
    text = _text(ladder, own, attempt, intensity, of, can_control) if ladder and climbs else ""
    return Standing(intensity, attempt.nth + 1, of, text, known)


def _text(ladder: Ladder, own: str, attempt: Attempt, intensity: str, of: int, can_control: bool) -> str:
    if intensity == "block":
        return f"refused after {attempt.nth} {'warning' if attempt.nth == 1 else 'warnings'}" if attempt.nth else ""
    count = f"{'change' if intensity == 'control' else 'warning'} {attempt.nth + 1}{f' of {of}' * (of > 0)}"
    if attempt.excused:
        return f"{count}; acknowledged"
    following = ladder.rung(own, attempt.nth + 1, can_control)
    if following == "block":
        return f"{count}; {NEXT_REFUSED}"
    if following != intensity:
        return f"{count}; the next one is changed"
    return f"{count}; then it is refused" if of else count


def resets(episode: Episode, *, issue: str | None, paths: Collection[str]) -> bool:
    """Whether a clean evaluation is about the same thing as the episode (design §8.5).

    The same issue, or a change that covers a finding's own file, or at least half of the paths of the last signal
    without findings; for commits and pushes only the latter, or an empty commit on the issue's branch would reset. The
    caller has seen to the rest: the same rule and key, decidable, not filtered. On tool triggers only time or a person
    resets.
    """
    family = episode.key.partition("|")[0]
    if family == "tool-use":
        return False
    if family not in ("commit", "push") and episode.issue and episode.issue == issue:
        return True
    if not episode.found.isdisjoint(paths):
        return True
    covered, files = coverage(episode, paths)
    return covered > 0 and 2 * covered >= files


def coverage(episode: Episode, paths: Collection[str]) -> tuple[int, int]:
    """How many of the paths that the last signal without findings was about a change covers, and how many those are."""
    return len(episode.paths.intersection(paths)), len(episode.paths)


def repeats_commits(paths: Sequence[str], signalled: Collection[str]) -> bool:
    """Whether a push signals again only what its commits did: it does not count then (design §8.2).

    `paths` are the push's, `signalled` those of this rule's signals at commits (`State.signalled_paths`).
    """
    return bool(paths) and all(path in signalled for path in paths)
