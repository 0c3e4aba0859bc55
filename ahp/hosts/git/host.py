"""git as a host (`ahp.hosts.table`)."""

from __future__ import annotations

import os
import sys

from ahp.hosts.asking import user_policy
from ahp.hosts.git.githooks import HOOKS
from ahp.protocol.text import one_line
from ahp.system import environ
from ahp.system.errors import AhpError
from ahp.system.git import Repository
from ahp.system.terminal import prose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.hosts.table import Check


def hook(arguments: tuple[str, ...]) -> int:
    """Judges a hook of git; a hook manager gives its name, and git's own arguments. Raises AhpError."""
    from ahp.hosts.git import main
    from ahp.hosts.git.githooks import HOOKS

    if not arguments or arguments[0] not in HOOKS:
        raise AhpError(f"which hook of git? one of {', '.join(HOOKS)}; by hand: ahp check pre-commit")
    if len(arguments) < 5:  # the installed shims give more
        arguments = as_installed(arguments[0], arguments[1:])
    sys.argv[1:] = arguments
    main.main()
    return 0


def found(root: str, env: dict[str, str]) -> bool:
    """Every project that ahp is installed in is one of git's."""
    return True


def install(user: bool) -> list[str]:
    """Puts the hooks in place. Raises AhpError."""
    from ahp.hosts.asking import repository_here, user_policy
    from ahp.hosts.git import lfs, policy_checks
    from ahp.hosts.git.install import install, says_aside
    from ahp.hosts.git.policy_checks import ClonePolicies

    repo = repository_here()
    done = install(repo, user_policy())
    said = [f"git: {len(done.written)} hooks in {one_line(done.folder, 1000)}"]
    if done.kept:
        said.append(f"git: earlier hooks keep running: {', '.join(done.kept)}")
    said += [f"git: {says_aside(path)}" for path in done.aside]
    if done.lost:
        gone = "the hooks were here and their record was not, so only what a remote has counts as older than the gate"
        said.append(f"git: {gone}: the next push judges the other commits")
    if done.husky:
        said.append(
            prose(f"git: husky's hooks in {one_line(done.husky, 1000)} call them by one line each: commit those")
        )
    if lfs.is_used(repo, everywhere=True) and (kept := lfs.check(repo)).status != "ok":
        said.append(f"git: git-lfs: {kept.detail}; {kept.mend}")
    policy = policy_checks.loaded(repo, user_policy())
    if policy.status == "wrong":
        return [*said, "git: the policy here is not valid; what is wrong: ahp policy lint"]
    if policy.status == "note":
        said.append(prose(f"git: policy: {policy.detail}; {policy.mend}"))
    commands = policy_checks.commands(ClonePolicies(repo, user_policy()))
    if commands.status != "ok":
        said.append(prose(f"git: {commands.detail}; {commands.mend}"))
    return said


def uninstall(user: bool, named: bool) -> list[str]:
    """Takes the hooks away. Raises AhpError."""
    from ahp.hosts.asking import repository_here
    from ahp.hosts.git.install import says_aside, uninstall

    repo = repository_here()
    done = uninstall(repo)
    said = [f"git: {len(done.written)} hooks removed from {one_line(done.folder, 1000)}"]
    if done.kept:
        said.append(f"git: earlier hooks are back: {', '.join(done.kept)}")
    said += [f"git: {says_aside(path)}" for path in done.aside]
    if done.written:
        place = one_line(os.path.abspath(repo.ahp_dir), 1000)
        said.append(f"git: the policy stays in .ahp, the log in {place}; delete what you do not want")
    return said


def examine(repo: Repository) -> list[Check]:
    """The checks of the hooks of git, the policy and the log."""
    from ahp.hosts.asking import user_policy
    from ahp.hosts.git import doctor

    return doctor.examine(repo, user_policy())


_ZEROS = "0" * 40


def as_installed(hook: str, arguments: tuple[str, ...]) -> tuple[str, ...]:
    """The arguments that an installed shim would give; standard input is what git would give, or nothing.

    Raises AhpError for a push of which nothing is told.
    """
    env = environ.current()
    to = env.get("PRE_COMMIT_TO_REF", "")
    if HOOKS[hook].gives == "refs" and to:
        source = env.get("PRE_COMMIT_LOCAL_BRANCH", "") or "HEAD"
        target = env.get("PRE_COMMIT_REMOTE_BRANCH", "") or source
        _give(f"{source} {to} {target} {env.get('PRE_COMMIT_FROM_REF', '') or _ZEROS}\n")
        arguments = arguments or (env.get("PRE_COMMIT_REMOTE_NAME", ""),)
    elif HOOKS[hook].gives == "refs" and os.isatty(0):
        raise AhpError(
            "what is pushed stands on git's standard input, which this hook was not given (lefthook: use_stdin)"
        )
    return (hook, str(os.getppid()), "", user_policy(), "git", *arguments)


def _give(text: str) -> None:
    """Makes `text`, a line at most, the standard input of this process."""
    reading, writing = os.pipe()
    os.write(writing, os.fsencode(text))
    os.close(writing)
    os.dup2(reading, 0)
    os.close(reading)
