"""The named points where the gate is asked (design §4; seed 002 §4.2).  [light]"""

FORGET_AFTER = 14 * 86400.0
"""Seconds after its last signal that an episode ends by itself, where that signal does not say otherwise."""
_BEFORE = ("block", "control", "prompt")
_AFTER = ("aid",)


class Trigger:
    """A point of integration: the `family` that its episodes share, the intensities it can carry, those it should.

    `post` says that what it is about is done already; `act` is the word for that in a sentence (for git's hooks the
    git command), the trigger's name where there is no shorter one.
    """

    __slots__ = ("act", "advised", "family", "intensities", "name", "post")

    def __init__(self, name: str, family: str, post: bool, advised: tuple[str, ...] = (), act: str = "") -> None:
        self.name, self.family, self.post, self.act = name, family, post, act or name
        self.intensities = _AFTER if post else _BEFORE
        self.advised = advised or self.intensities


TRIGGERS = {
    trigger.name: trigger
    for trigger in (
        Trigger("pre-issue-start", "issue-start", False, ("block", "control")),
        Trigger("post-issue-start", "issue-start", True),
        Trigger("pre-issue-submit", "issue-submit", False),
        Trigger("post-issue-submit", "issue-submit", True),
        Trigger("pre-issue-close", "issue-close", False, ("block",)),
        Trigger("post-issue-close", "issue-close", True),
        Trigger("pre-tool-use", "tool-use", False, ("block", "control")),
        Trigger("post-tool-use", "tool-use", True),
        Trigger("pre-commit", "commit", False, act="commit"),
        Trigger("commit-msg", "commit", False, act="commit"),
        Trigger("pre-merge-commit", "commit", False, act="merge"),
        Trigger("post-commit", "commit", True, act="commit"),
        Trigger("pre-push", "push", False, act="push"),
        Trigger("pre-merge", "pre-merge", False, act="merge"),
        Trigger("prompt-submit", "prompt-submit", False),
        Trigger("session-start", "session-start", True),
        Trigger("task-complete", "task-complete", False),
    )
}

OF_CONTENT, OF_MERGES, OF_MESSAGES = OF_COMMITS = ("pre-commit", "pre-merge-commit", "commit-msg")
"""Whose rules are asked of a commit that exists."""
