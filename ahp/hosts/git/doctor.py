"""`ahp doctor`: whether the gate is really reached and can do its work, and what to do where not (design §9)."""

import os
import re
import shlex
import stat
from collections.abc import Callable, Iterator

from ahp.conditions.regexes import regex
from ahp.hosts.git import bundle, hook_managers, husky, lfs, policy_checks, second_channel
from ahp.hosts.git import install as installing
from ahp.hosts.git.githooks import HOOKS, IDLE
from ahp.hosts.git.policy_checks import ClonePolicies
from ahp.hosts.git.probe import Probe, may_write, obstacle, probe
from ahp.hosts.table import FIX, Check
from ahp.journal import anchors, repair, verify
from ahp.journal.append import Journal
from ahp.protocol.event import identify
from ahp.system import environ, files, libraries, process
from ahp.system.errors import AhpError
from ahp.system.git import Repository

INSTALL = "ahp install git"
_NAMED = 5


def examine(repo: Repository, user_policy: str) -> list[Check]:
    """Every check of this work tree. Raises AhpError for a bare repository, which has no hooks of ours."""
    if not repo.root:
        raise AhpError("this repository is bare: no commit is made here, so there is nothing for hooks to judge")
    policy, policies = policy_checks.loaded(repo, user_policy), ClonePolicies(repo, user_policy)
    return [
        policy,
        *_hooks(repo),
        *_second(repo),
        _tried("interpreter", lambda: _interpreter(repo, user_policy)),
        _tried("libraries", _libraries),
        _tried("log", lambda: _log(repo)),
        _tried("state", lambda: _state(repo)),
        _tried("git directory", lambda: _writable(repo)),
        *([_tried("git-lfs", lambda: lfs.check(repo))] if lfs.is_used(repo, everywhere=True) else ()),
        *(_of_policy(policies) if policy.status != "wrong" else ()),
    ]


def fix(repo: Repository, user_policy: str, checks: list[Check]) -> list[str]:
    """Mends what is ahp's own among the `checks`; what it did. Raises AhpError.

    Nothing is installed while the log is in doubt: that accepts the log that is there, which only a person may do.
    """
    done = []
    journal = Journal(repo.ahp_dir, installing.noted(repo) or None)
    wrong = {check.name for check in checks if check.status == "wrong"}
    if "state" in wrong:
        repair.rebuild(journal)
        done.append("the state is made anew from the log")
    if "compiled policy" in wrong:
        policy_checks.renew(repo, user_policy)
        done.append("the policy is compiled anew")
    doubted = any(check.name == "log" and check.status == "wrong" and not check.ours for check in checks)
    if not doubted and any(check.ours for check in checks):
        aside = installing.install(repo, user_policy).aside
        done += ["installed anew", *map(installing.says_aside, aside)]
    if "clock" in wrong and repair.set_clock(journal, identify(environ.current())):  # last: it asks a person
        done.append("time in the log goes on from now")
    return done


def _tried(name: str, check: Callable[[], Check]) -> Check:
    try:
        return check()
    except AhpError as error:
        return Check(name, "wrong", str(error))
    except OSError as error:
        return Check(name, "wrong", f"{error.filename or repr(name)}: {error.strerror}")


def _of_policy(policies: ClonePolicies) -> Iterator[Check]:
    """What can be told only of a policy that loads."""
    yield _tried("compiled policy", lambda: policy_checks.compiled(policies))
    yield _tried("committed policy", lambda: policy_checks.committed(policies))
    yield _tried("commands", lambda: policy_checks.commands(policies))


def _hooks(repo: Repository) -> Iterator[Check]:
    try:
        with probe(repo) as scratch:
            for hook in HOOKS:
                yield _tried(hook, lambda hook=hook: _hook(repo, hook, scratch))  # type: ignore[misc]
    except AhpError as error:
        yield Check("hooks", "wrong", str(error), "make room on the disk, or see the check of the git directory")


def _hook(repo: Repository, hook: str, scratch: Probe) -> Check:
    asked = scratch.asked
    if not os.path.isdir(asked) and (nowhere := installing.no_folder(repo)):
        return Check(hook, "wrong", *nowhere)
    if found := obstacle(repo, hook, asked):
        ends = "ends it before" in found
        return Check(hook, "wrong", found, "" if ends else INSTALL, ours=not ends)
    failed = scratch.ask(hook)
    if failed:
        return Check(hook, "wrong", failed, INSTALL, ours=True)
    how = hook_managers.owner(f"{asked}/{hook}")
    through = "husky" if husky.is_active(asked) else how if how != "ahp" else ""
    if not how and not through:
        return Check(hook, "ok", "reached by commits whose message a rule reads")
    return Check(hook, "ok", "reached" + (f" through {through}" if through else ""))


def _second(repo: Repository) -> Iterator[Check]:
    """Whether git's configuration leads to ahp, too; nothing where this git does not read it so."""
    version = re.search(r"(\d+)\.(\d+)", repo.line("version"))
    if (
        version is None
        or tuple(map(int, version.groups())) < second_channel.SINCE
        or husky.is_active(installing.asked_folder(repo))
    ):
        return
    if second_channel.is_there(repo):
        yield Check("configuration", "ok", "git starts ahp by it where its hooks are taken from elsewhere")
    else:
        why = "git would start ahp by `hook.ahp-…`, and these settings or what they name are gone"
        yield Check("configuration", "wrong", why, INSTALL, ours=True)


def _interpreter(repo: Repository, user_policy: str) -> Check:
    """Whether the shims start this ahp, with a bundle of its sources as they are."""
    known = installing.baked(repo, installing.noted(repo), user_policy)
    python, path = known["PYTHON"], known["BUNDLE"]
    folder = installing.hooks_folder(repo)[0]
    for hook in HOOKS:
        places = [f"{folder}/{hook}{ending}" for ending in ("", hook_managers.CHAINED, IDLE)]
        text = next((files.read(place) for place in places if hook_managers.owner(place) == "ahp"), None)
        if text is not None and text != installing.shim(hook, known):
            return Check("interpreter", "wrong", f"{hook} is not the shim that this ahp installs", INSTALL, True)
    data = files.read(path)
    if data is None or not bundle.is_fresh(data):
        return Check("interpreter", "wrong", f"the bundle {path} is missing or older than ahp", INSTALL, True)
    started = process.capture([python, "-I", "-S", "-c", ""], timeout=30.0, env=environ.current())
    if started.code:
        return Check("interpreter", "wrong", f"{python} does not start", INSTALL, True)
    return Check("interpreter", "ok", f"{python}, bundle fresh")


def _libraries() -> Check:
    """Whether the libraries are what this ahp needs, and match."""
    known = libraries.required()
    if problems := libraries.problems():
        told, mends = zip(*problems, strict=True)
        needed = any(not one.extra and one.problem() for one in known)
        return Check("libraries", "wrong" if needed else "note", "; ".join(told), " && ".join(mends))
    regex("a")
    if not known:
        return Check("libraries", "note", "ahp is not installed as a package, so no version is checked")
    return Check("libraries", "ok", ", ".join(f"{one.name} {one.version}" for one in known if one.version))


def _log(repo: Repository) -> Check:
    journal = Journal(repo.ahp_dir, installing.noted(repo) or None)
    if not os.path.exists(journal.log_path):
        return Check("log", "wrong", f"{journal.log_path} is not there", INSTALL, ours=True)
    found = anchors.find(repo, {journal.index().genesis, journal.genesis or ""})
    report = verify.verify(journal, found.anchors)
    if report.problems:
        more = f", and {len(report.problems) - 1} more" if len(report.problems) > 1 else ""
        return Check("log", "wrong", report.problems[0] + more, "ahp log verify tells all; what is lost stays told")
    os.close(os.open(journal.log_path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW))
    with journal.lock:
        return Check("log", "ok", f"{report.lines} line{'s' * (report.lines != 1)}, unbroken")


def _state(repo: Repository) -> Check:
    """Whether episodes and time are what the log says."""
    journal = Journal(repo.ahp_dir, installing.noted(repo) or None)
    if days := repair.ahead(journal) / 86400:
        return Check("clock", "wrong", f"the log's last record is {days:.1f} days ahead of the clock", FIX)
    if found := repair.differences(journal):
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        return Check("state", "wrong", f"not what the log says: {', '.join(found[:_NAMED])}{more}", FIX)
    return Check("state", "ok", "what the log says")


def _writable(repo: Repository) -> Check:
    folder = repo.ahp_dir
    for path in (repo.git_dir, repo.common_dir, folder, *sorted(_inside(folder))):
        if not os.path.lexists(path) or may_write(path):
            continue
        owned = os.stat(path).st_uid == os.geteuid()
        place = folder if path.startswith(folder) else path
        what = "-R u+rwX" if place == folder else "u+rwx"  # what git made read-only stays so
        mend = f"chmod {what} {shlex.quote(place)}" if owned else f'sudo chown -R "$(id -un)" {shlex.quote(place)}'
        if os.statvfs(path).f_flag & os.ST_RDONLY:
            mend = "mount its file system for writing"
        return Check("git directory", "wrong", f"{path} cannot be written", mend)
    return Check("git directory", "ok", f"{repo.common_dir} can be written")


def _inside(folder: str) -> Iterator[str]:
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        path = f"{folder}/{name}"
        if stat.S_ISREG(os.lstat(path).st_mode) or name == "cache":
            yield path
