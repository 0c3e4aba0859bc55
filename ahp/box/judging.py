"""Whether new commits of a box's git directory may enter the repository: by the one door for what exists already."""

import os

from ahp.facts.default_branch import is_default
from ahp.gate import of_range
from ahp.gate.asked import Context
from ahp.gate.decide import decide
from ahp.gate.of_commits import by_the_log
from ahp.gate.of_range import Range
from ahp.hosts import asking, verdict_text
from ahp.journal.place import noted_genesis
from ahp.policy import policies
from ahp.policy.judges import judges_of
from ahp.policy.policies import Policies
from ahp.protocol.event import Actor, Event, PushRef, Workspace, identify
from ahp.system import environ
from ahp.system.git import Repository

_BRANCHES = "refs/heads/"
_NOT_RECORDED = "git does not record it of the time of the commit"


class Judge:
    """Asks the policy in force, for an agent: what runs in a box is one, whatever its environment says."""

    def __init__(self, session: str) -> None:
        who = identify(environ.current())
        self.session, self.actor = session, who if who.kind == "agent" else Actor("agent", "box")

    def is_default(self, repo: Repository, ref: str) -> bool:
        """Whether a ref is the default branch."""
        return ref.startswith(_BRANCHES) and bool(is_default(repo, ref.removeprefix(_BRANCHES), ""))

    def refusal(self, repo: Repository, ref: str, commits: list[str]) -> str:
        """Why the commits are not taken, "" where they are. Raises AhpError where that cannot be judged."""
        event = self._event(repo, "pre-commit", commits[0])
        name = ref.removeprefix(_BRANCHES) if ref.startswith(_BRANCHES) else ""
        in_force = Policies(lambda trigger: judges_of(event.but(trigger=trigger)))
        branch = of_range.branch_of(name, name, is_default(repo, name, ""), _NOT_RECORDED)
        context = Context(event, known={"branch": branch}, gathered=("actor",), excuse=by_the_log(repo.ahp_dir))
        (told,) = of_range.judge_each(repo, [Range(context, in_force, commits)])
        nobody = policies.narrowed(in_force, event, lambda rule: False)
        verdict = decide(event, nobody.at("pre-commit"), told)
        return verdict_text.for_agent(verdict, False) if verdict.denied else ""

    def of_push(self, repo: Repository, refs: list[PushRef], remote: str) -> list[str]:
        """Why a push is not taken: [] where it is. Raises AhpError where that cannot be judged."""
        from ahp.hosts.git import pre_push  # no commit needs it

        hook = pre_push.AskedPush(self._event(repo, "pre-push", os.urandom(8).hex()), remote)
        verdicts = list(pre_push.judge_refs(hook, refs, remote))
        return [verdict_text.for_agent(verdict, False) for verdict in verdicts if verdict.denied]

    def _event(self, repo: Repository, trigger: str, attempt: str) -> Event:
        user = asking.user_policy()
        where = Workspace(repo.root, repo.ahp_dir, repo.env, repo, noted_genesis(repo.ahp_dir), user)
        event = asking.event(trigger, "box", self.actor, where, session=self.session or None)
        event.attempt = attempt
        return event
