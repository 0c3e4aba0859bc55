"""The hooks of git (githooks(5)): those that ahp takes, who judges each and what git gives it.  [light]"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.hosts.git.hook import Hook


class GitHook:
    """A hook that ahp takes; the trigger of its name says which git command it belongs to and whether it can refuse.

    `module` is the module of this package that judges it, and, with hyphens, the template of its shim in `hooks/git/`.
    `gives` is what the shim or git hands over: `staged` (git's list on standard input), `message` (the path of its
    file), `refs` (what is pushed, on standard input) or nothing.
    """

    __slots__ = ("gives", "module", "name")

    def __init__(self, name: str, module: str, gives: str = "") -> None:
        self.name, self.module, self.gives = name, module, gives

    def judge(self, hook: "Hook") -> int:
        """The hook's exit code."""
        code: int = __import__(f"ahp.hosts.git.{self.module}", None, None, ("judge",)).judge(hook)
        return code


HOOKS = {
    hook.name: hook
    for hook in (
        GitHook("pre-commit", "pre_commit", "staged"),
        GitHook("commit-msg", "commit_msg", "message"),
        GitHook("pre-merge-commit", "pre_commit", "staged"),
        GitHook("pre-push", "pre_push", "refs"),
        GitHook("post-commit", "post_commit"),
    )
}
# Those that judge the content of a commit.
CONTENT = tuple([name for name, hook in HOOKS.items() if hook.gives == "staged"])
# The others that git may run in a clone; those of a user's or machine's shared folder go on running.
OTHERS = tuple(
    [
        name
        for name in (
            *("applypatch-msg", "pre-applypatch", "post-applypatch", "prepare-commit-msg", "pre-rebase"),
            *("post-checkout", "post-merge", "post-rewrite", "pre-auto-gc", "reference-transaction"),
            *("post-index-change", "sendemail-validate", "push-to-checkout", "fsmonitor-watchman"),
        )
        if name not in HOOKS
    ]
)
