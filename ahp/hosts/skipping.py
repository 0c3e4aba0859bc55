"""Letting a rule pass before it is asked: who may, and for which rule."""

import shlex
import uuid

from ahp.hosts import asking
from ahp.hosts.verdict_text import name_of
from ahp.journal import skips
from ahp.journal.answers import AnswerRefused, check_leave
from ahp.journal.append import Journal
from ahp.journal.skips import Skip
from ahp.journal.state import State
from ahp.policy.judges import judges_of
from ahp.policy.problems import nearest, quoted
from ahp.policy.program import RuleAnswer
from ahp.protocol.event import Actor, Workspace
from ahp.protocol.text import one_line
from ahp.protocol.triggers import TRIGGERS
from ahp.system import reflogs, terminal
from ahp.system.errors import AhpError

_REASON = 1024
_COMMIT = [name for name, trigger in TRIGGERS.items() if trigger.family == "commit" and not trigger.post]


def skip(where: Workspace, rule: str, by: Actor, reason: str) -> Skip:
    """Records that `rule` passes in the next commit on this branch, after a person at the terminal agreed.

    Raises AnswerRefused for an actor who may not decide it, AhpError without a terminal, PolicyError,
    JournalUnwritable.
    """
    repo = where.repo
    if repo is None:
        raise AhpError("there is no git repository here, so there is no commit to come")
    if by.kind != "human":
        raise AnswerRefused(f"only a person can skip a rule, and {by} is none; fix what the rule says, or ask a person")
    key, found = _rule(where, rule, by)
    check_leave("a skip", overridable=all(one.overridable for one in found), reason=reason)
    branch = repo.branch()
    if not branch:
        raise AnswerRefused("HEAD is on no branch, and a skip is for a branch; answer the refusal: ahp respond")
    question = f"ahp: skip {one_line(key)} in the next commit on {one_line(branch)}, whatever it finds, for one hour?"
    typed = f"ahp skip {shlex.quote(one_line(rule))} --reason {shlex.quote(one_line(reason, _REASON))}"
    if not terminal.confirm(question, typed):
        raise AnswerRefused("nothing was recorded: the answer was no")
    journal = Journal(where.journal, where.genesis)
    with State.open(journal) as state:
        now = state.now
    head, mark = repo.head_id(), reflogs.mark(repo, branch)
    made = Skip(str(uuid.uuid4()), key, branch, head, mark, str(by), one_line(reason, _REASON), now)
    skips.give(journal, made)
    return made


def _rule(where: Workspace, name: str, by: Actor) -> tuple[str, list[RuleAnswer]]:
    """The key of the rule that is called `name`, and what each policy that judges here says of it.

    Raises AnswerRefused where no commit is asked by it.
    """
    of_commits = _rules(where, by, _COMMIT)
    keys = [key for key in of_commits if name in (key, name_of(key))]
    if keys:
        return keys[0], of_commits[keys[0]]
    elsewhere = _rules(where, by, [trigger for trigger in TRIGGERS if trigger not in _COMMIT])
    if any(name in (key, name_of(key)) for key in elsewhere):
        raise AnswerRefused(f"{one_line(name)} does not run at commits; answer its refusal: ahp respond")
    raise AnswerRefused(f"no rule of commits is called {quoted(name)}{nearest(name, map(name_of, of_commits))}")


def _rules(where: Workspace, by: Actor, triggers: list[str]) -> dict[str, list[RuleAnswer]]:
    """The rules of these triggers, as every policy that judges here has them."""
    found: dict[str, list[RuleAnswer]] = {}
    for trigger in triggers:
        event = asking.event(trigger, "cli", by, where, mode="dry")
        for judge in judges_of(event):
            for key, rule in judge.answers(event).rules.items():
                found.setdefault(key, []).append(rule)
    return found
