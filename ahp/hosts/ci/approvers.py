"""Overrides that count in CI: lines of commits that an approver signed (authority §6)."""

from __future__ import annotations

from ahp.gate import overrides
from ahp.gate.asked import Excuse
from ahp.gate.candidate import Candidate
from ahp.hosts.ci.signatures import NotApproved, approval
from ahp.protocol.text import one_line
from ahp.system.commits import Past
from ahp.system.git import Repository


class Approvers:
    """Who may let a rule pass: the text of `.ahp/approvers` in the tree of the policy that judges.

    `notes` say of each override that does not count why it does not.
    """

    def __init__(self, repo: Repository, allowed: bytes, now: float, software_keys: bool) -> None:
        self._repo, self._allowed, self._now, self._software_keys = repo, allowed, now, software_keys
        self.notes: list[str] = []

    @property
    def excuse(self) -> Excuse:
        """The reason for which a commit passes a rule that it breaks, "" for none."""
        return self._excuse

    def _excuse(self, commit: Past, candidate: Candidate) -> str:
        rule = candidate.rule
        found = overrides.lines(commit.message.encode("utf-8", "surrogateescape"))
        line = found.get((one_line(candidate.key), rule.digest, candidate.content())) if rule.overridable else None
        if line is None:
            if any(bound[0] == one_line(candidate.key) for bound in found):
                what = "it is not for this rule as it is, or not for this change" if rule.overridable else "it may not"
                self._refuse(commit, candidate, what)
            return ""
        try:
            signed = self._repo.run("cat-file", "commit", commit.id)
            who = approval(signed, self._allowed, self._now, self._software_keys)
        except NotApproved as why:
            self._refuse(commit, candidate, str(why))
            return ""
        reason = line.rpartition(" sha256:")[2].partition(" ")[2]
        return f"overridden by {who.principal}: {one_line(reason, 300)}"

    def _refuse(self, commit: Past, candidate: Candidate, why: str) -> None:
        note = f"the override of {candidate.key} in commit {commit.id[:10]} does not count: {why}"
        if note not in self.notes:
            self.notes.append(note)
