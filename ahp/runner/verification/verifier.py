"""What is checked when all steps are done (seed 003 §2): by the settings' policy, the plan's, and what was written."""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from ahp.protocol.text import failure
from ahp.runner.config import AgentConfig
from ahp.runner.verification import project_verifier
from ahp.runner.verification.project import Snapshot, differing
from ahp.runner.verification.project_verifier import ProjectVerifier
from ahp.runner.verification.result import NOT_MADE, VerificationResult
from ahp.system.errors import AhpError
from ahp.system.interrupt import Ended

NOT_ASKED = VerificationResult("no_tests", "nothing to verify")


class Verifier(Protocol):
    """Checks the project at `root` within `timeout_s` seconds. Never raises for what it finds."""

    def verify(self, root: str, timeout_s: float) -> VerificationResult:
        """What it found."""
        ...


class Verification:
    """The verifiers of a run by policy; `result` is what was found last, and what it leaves open are `notes`.

    `auto` makes every check of the project once something was written, `none` makes none, `run_pytest` and the like
    make one kind of check; `verifiers` are further ones, or stand in for those. Checks run with `env`.
    """

    def __init__(
        self,
        verifiers: Mapping[str, Verifier],
        root: str,
        env: Mapping[str, str],
        config: AgentConfig | None = None,
    ) -> None:
        self._config = config or AgentConfig()
        named = _by_policy(one.name for one in self._config.checks)
        self.policies = tuple(dict.fromkeys(["auto", "none", "run_pytest", *named, *verifiers]))
        self.result: VerificationResult | None = None
        self._red_at: Snapshot | None = None
        self._doubts: dict[str, None] = {}
        self._verifiers = verifiers
        self._root = root
        self._env = env

    def asked(self, added: str | None) -> list[str]:
        """The policies to ask: that of the settings, and the one that a plan adds. It removes nothing."""
        own, added = self._config.verification_policy or "auto", added or "auto"
        covered = added in ("auto", "none", own)
        return [own] if covered else [own, added]

    def covers(self, policy: str, other: str) -> bool:
        """Whether `policy` makes the checks of `other`, too."""
        return policy == "auto" and other in self._built_in() and other not in self._verifiers

    def note(self, before: Snapshot | None, after: Snapshot | None) -> None:
        """Takes note of the last result. Where git cannot tell what files hold (None), nothing is claimed of them."""
        assert self.result is not None
        changed = differing(before, after) if before is not None and after is not None else []
        if changed:
            who = "by its tests or by somebody else"
            told = f"Files changed while the project was verified, {who}: {', '.join(changed[:20])}."
            self._doubts[f"{told} What they hold now was not verified."] = None
        if self.result.red:
            self._red_at = before
        elif self.result.ok and before is not None and before == self._red_at:
            self._doubts["Verified red, then green, though no file had changed: a test may be flaky."] = None

    @property
    def notes(self) -> list[str]:
        """What is not verified or in doubt, a sentence each."""
        last = self.result
        unmade = last is not None and last != NOT_ASKED and last.type in NOT_MADE
        said = [f"not verified ({last.type}): {last.summary}"] if last and unmade else []
        return [*said, *(last.cautions if last else ()), *self._doubts]

    @property
    def verified(self) -> list[str]:
        """What the last verification found green, a sentence each."""
        return [self.result.summary] if self.result is not None and self.result.ok else []

    def run(self, policy: str, timeout_s: float, *, wrote: Callable[[], bool], since: str = "") -> VerificationResult:
        """Verifies as `policy` says, in at most `timeout_s`. `since` is the commit at which the run began, if any."""
        self.result = self._found(policy, timeout_s, wrote, since)
        return self.result

    def _found(self, policy: str, timeout_s: float, wrote: Callable[[], bool], since: str) -> VerificationResult:
        if policy == "none" or (policy == "auto" and not wrote()):
            return NOT_ASKED
        if timeout_s <= 0:
            return VerificationResult("timeout", "no time was left to verify", suggestion="Give the run more time.")
        only = []
        try:
            if policy in self._verifiers:
                return self._verifiers[policy].verify(self._root, timeout_s)
            if policy != "auto":
                if policy not in (built_in := self._built_in()):
                    return VerificationResult("crash", f"there is no verifier {policy!r}")
                only = [built_in[policy]]
            verifier = ProjectVerifier(
                self._root,
                self._env,
                since=since,
                variables=self._config.verification_variables,
                named=self._config.checks,
            )
            return verifier.verify(timeout_s, only)
        except AhpError as error:
            return VerificationResult("crash", f"it could not be verified: {error}")
        except Ended:
            raise
        except SystemExit as error:  # a verifier of one's own that asks the process to end has said nothing
            return VerificationResult("crash", f"the verifier {policy} ended with {failure(error)}")

    def _built_in(self) -> dict[str, str]:
        return _by_policy([*project_verifier.names(), *(one.name for one in self._config.checks)])


def _by_policy(names: Iterable[str]) -> dict[str, str]:
    """Checks by the verification policy that makes only them: `run_pytest` and the like."""
    return {"run_" + name.replace("-", "_"): name for name in names}
