"""What a person has to know of a verification beside its result: that it may say something else the next time."""

from ahp.runner.run.prompts import files_named
from ahp.runner.run.snapshot import Snapshot, differing
from ahp.runner.verification.result import NOT_MADE, VerificationResult
from ahp.runner.verification.verifier import NOT_ASKED


class VerificationNotes:
    """Reads the results of a run in order, with what the project's files held `before` and `after` each of them."""

    def __init__(self) -> None:
        self._last: VerificationResult | None = None
        self._red_at: Snapshot | None = None
        self._doubts: dict[str, None] = {}

    def read(self, found: VerificationResult, before: Snapshot | None, after: Snapshot | None) -> None:
        """Takes note of one result. Where git cannot tell what files hold (None), nothing is claimed of them."""
        self._last = found
        changed = differing(before, after) if before is not None and after is not None else []
        if changed:
            who = "by its tests or by somebody else"
            told = f"Files changed while the project was verified, {who}: {files_named(changed)}."
            self._doubts[f"{told} What they hold now was not verified."] = None
        if found.red:
            self._red_at = before
        elif found.ok and before is not None and before == self._red_at:
            self._doubts["Verified red, then green, though no file had changed: a test may be flaky."] = None

    @property
    def notes(self) -> list[str]:
        """One sentence each."""
        last = self._last
        unmade = last is not None and last != NOT_ASKED and last.type in NOT_MADE
        said = [f"not verified ({last.type}): {last.summary}"] if last and unmade else []
        return [*said, *(last.cautions if last else ()), *self._doubts]
