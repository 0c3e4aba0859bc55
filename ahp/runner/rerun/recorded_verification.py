"""What verification found in a recorded run, found again."""

from collections import deque

from ahp.runner.rerun.recording import Recording
from ahp.runner.verification.result import VerificationResult, from_json
from ahp.runner.verification.verifier import NOT_ASKED, Verification


class RecordedVerification(Verification):
    """Gives the recorded results by policy, in order; nothing is run. Without one left nothing is verified."""

    def __init__(self, recording: Recording) -> None:
        super().__init__({}, "", dict)
        self._recorded: dict[str, deque[VerificationResult]] = {}
        for event in recording.events:
            if event["event"] == "final_verify":
                found = from_json(event["result"])
                self._recorded.setdefault(event["policy"], deque()).append(found)

    def run(self, policy: str, timeout_s: float, **asked: object) -> VerificationResult:
        """The next recorded result of `policy`."""
        left = self._recorded.get(policy)
        self.result = left.popleft() if left else NOT_ASKED
        return self.result
