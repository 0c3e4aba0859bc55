"""Which triggers can know what: groups of trigger names that the namespaces share (design §4, §6)."""

COMMIT = ("pre-commit", "commit-msg", "pre-merge-commit", "post-commit")
PUSH = ("pre-push",)
CI = ("pre-merge",)
ISSUE = (
    "pre-issue-start",
    "pre-issue-submit",
    "pre-issue-close",
    "post-issue-start",
    "post-issue-submit",
    "post-issue-close",
)
TOOL = ("pre-tool-use", "post-tool-use")
SESSION = ("prompt-submit", "session-start", "task-complete")

ALL = COMMIT + PUSH + CI + ISSUE + TOOL + SESSION
# Where there is a change to speak of: a prompt or a new session has none yet.
CHANGE = COMMIT + PUSH + CI + ISSUE + TOOL + ("task-complete",)
AGENT = TOOL + SESSION
