"""Putting the git shims in place, and taking them away again (design §9).

Hooks that are there already keep running and come back on uninstall. A `core.hooksPath` of the user or the machine is
left to the other repositories: this one gets a folder of its own whose hooks call those. husky's folder is made anew
whenever it likes: its committed hooks get a line that calls ours, and ours also lie where git looks without husky.
"""

import os
import re
import shlex
import shutil
import uuid
from collections.abc import Sequence
from typing import NamedTuple

from ahp.facts import default_branch
from ahp.hosts.git import bundle, githooks, husky, installation, second_channel
from ahp.hosts.git.githooks import HOOKS, OTHERS
from ahp.hosts.git.hook_managers import make_room, owner, pass_on, take_away, write
from ahp.hosts.templates import package, template
from ahp.journal import recovery, segments
from ahp.journal.append import Journal
from ahp.journal.place import INSTALL_RECORD, install_record, noted_genesis
from ahp.protocol import records
from ahp.protocol.event import identify, markers
from ahp.protocol.text import one_line, repository_name
from ahp.protocol.triggers import TRIGGERS
from ahp.system import clock, environ, files, git, installed, jsontext, process, staging, tracking
from ahp.system.errors import AhpError
from ahp.system.git import Repository

_HUSKY = "/husky"
_LEFT = ("ahp-token", "ahp-tree", "ahp-index", "ahp-judged", "ahp-message", "ahp-broken")  # beside the index, by hooks
_ID = 100  # bytes
_LOG_ID = re.compile(rb"^log='?([0-9A-Za-z-]+)'?$", re.MULTILINE)


class Installed(NamedTuple):
    """What `install` did: the folder of the hooks, those it wrote, and the earlier ones that keep running.

    `husky` is the folder of the committed hooks that call ours, "" when the project has none; `aside` are earlier hooks
    that do not run any more, since another program has put newer ones in their place. `lost` says that hooks of ours
    were there and what the first install found was not. Of `uninstall`, the same in reverse: all folders that had ours,
    as a clause.
    """

    folder: str
    written: list[str]
    kept: list[str]
    husky: str = ""
    aside: Sequence[str] = ()
    lost: bool = False


def install(repo: Repository, user_policy: str) -> Installed:
    """Writes the shims of all hooks; a second time it only renews them. Raises AhpError, GitError."""
    if not repo.root:
        raise AhpError("this repository is bare: no commit is made here, so there is nothing for hooks to judge")
    if found := no_folder(repo):
        raise AhpError("{}; fix: {}".format(*found))
    files.make_dirs(repo.ahp_dir)
    _record_root(repo)
    _record_default_branch(repo)
    earlier, first = install_record(repo.ahp_dir), _first_tips(repo)
    # Else whoever removes the record has all that is here by then pass as older than the gate.
    lost = not earlier and first is None and bool(installed_log(repo) or second_channel.named(repo))
    tips = tracking.believed(repo) if lost else _tips(repo)
    _note_whose(repo, user_policy)
    genesis = Journal(repo.ahp_dir, noted(repo) or None).begin().genesis
    folder, shared = hooks_folder(repo)
    os.makedirs(folder, exist_ok=True)
    known = baked(repo, genesis, user_policy)
    bundle.write(known["BUNDLE"], known["PYTHON"], installation.import_paths())
    places, kept, aside, changed = {}, [], [], False
    for hook in HOOKS:
        place, keeps, put_aside = make_room(f"{folder}/{hook}", f"{shared}/{hook}" if shared else "")
        if keeps:
            kept.append(hook)
        if put_aside:
            aside.append(put_aside)
        if hook == githooks.IDLES:
            place = _resting_place(repo, place, keeps)
        text = shim(hook, known)
        changed = changed or not os.path.isfile(place) or files.read(place) != text
        write(place, text)
        places[hook] = place
    committed = husky.folder_of(repo.root, asked_folder(repo))
    if not committed:  # its hooks call ours from another folder
        second_channel.join(repo, places, known["GIT"])
    kept += [hook for hook in _join_husky(repo, committed, known) if hook not in kept]
    if shared:
        kept += [hook for hook in OTHERS if _pass_on(f"{folder}/{hook}", f"{shared}/{hook}")]
        repo.run("config", "--local", "core.hooksPath", folder)
    folders = list(dict.fromkeys([*_folders(earlier), folder]))
    if changed:
        _log(repo, genesis, "installed", folders, tips)
    # Once for all: what was committed while the gate was away was judged by nobody.
    before = next(one for one in (earlier.get("before"), first, tips) if isinstance(one, list))
    _keep(repo, {"folder": folder, "folders": folders, "shared": shared, "genesis": genesis, "before": before})
    return Installed(folder, list(places), kept, committed, aside, lost)


def says_aside(path: str) -> str:
    """What to say of a hook that was put `aside`."""
    return f"another program wrote its hook anew; the one before it does not run any more: {one_line(path, 1000)}"


def _resting_place(repo: Repository, place: str, keeps: bool) -> str:
    """Where commit-msg goes, which stays out of git's way until it has work, unless an earlier one runs through it."""
    usual = f"{repo.common_dir}/hooks/{githooks.IDLES}"
    if os.path.dirname(place) != os.path.dirname(usual):
        return place
    idle = usual + githooks.IDLE
    rests = place == usual and not keeps
    if os.path.lexists(stale := place if rests else idle):
        os.unlink(stale)
    return idle if rests else place


def uninstall(repo: Repository) -> Installed:
    """Removes our shims wherever they were put and puts earlier hooks back. The log and the policy stay, and what the
    first install found. Raises AhpError, GitError.
    """
    record = install_record(repo.ahp_dir)
    shared = str(record.get("shared") or "")
    folder = str(record.get("folder") or "") or hooks_folder(repo)[0]
    folders = _folders(record) or [folder]
    if record.get("folder"):
        _log(repo, noted(repo), "removed", folders, _tips(repo))
    removed, restored, aside = [], [], []
    emptied: dict[str, None] = {}
    for place in folders:
        for hook in (*HOOKS, *OTHERS):
            was_at, is_back, put_aside = take_away(f"{place}/{hook}")
            if was_at:
                removed.append(hook)
                emptied[place] = None
            if is_back:
                restored.append(hook)
            if put_aside:
                aside.append(put_aside)
    committed = husky.folder_of(repo.root, asked_folder(repo)) if repo.root else ""
    for hook in HOOKS if committed else ():
        husky.leave(f"{committed}/{hook}")
    shutil.rmtree(repo.ahp_dir + _HUSKY, ignore_errors=True)
    second_channel.leave(repo)
    left = [name for name in os.listdir(repo.git_dir) if name.startswith(_LEFT)]
    for name in left:
        os.unlink(f"{repo.git_dir}/{name}")
    shutil.rmtree(repo.git_dir + staging.HOME, ignore_errors=True)
    if shared and repo.config("core.hooksPath") == folder:
        repo.run("config", "--local", "--unset", "core.hooksPath")
    if record:
        _keep(repo, {name: record[name] for name in ("genesis", "before") if name in record})
    if os.path.lexists(repo.common_dir + git.ROOT):
        os.unlink(repo.common_dir + git.ROOT)
    return Installed(" and ".join(emptied) or folder, removed, restored, "", aside)


def _note_whose(repo: Repository, user_policy: str) -> None:
    """Leaves for the log which repository this is, and which machine: a random id, kept beside the user's policy."""
    kept = os.path.join(os.path.dirname(user_policy), "host") if user_policy else ""
    try:
        host = files.read(kept, _ID) if kept else b""
        if host is None:
            host = str(uuid.uuid4()).encode()
            files.make_dirs(os.path.dirname(kept))
            files.replace(kept, host)
    except AhpError:
        host = b""  # a home that nobody can write, as in many containers: no record names its machine then
    repository = repository_name(repo.config("remote.origin.url"))
    told = {"repository": repository, "host": host.decode("ascii", "replace")}
    files.replace(repo.ahp_dir + recovery.WHOSE, jsontext.encode(told).encode() + b"\n")


def _record_root(repo: Repository) -> None:
    """Leaves, for hooks and commands, where the work tree is, as seen from the git directory that may move with it.

    What was recorded stays while it holds: what git's configuration has come to say since moves nothing.
    """
    common = repo.common_dir
    if (known := git.recorded(common, common)) and git.leads_back(known, common):
        return
    main = Repository("", common, common, environ.scrubbed(repo.env), repo.git)
    if repo.git_dir == common:
        top = repo.root
    elif main.line("rev-parse", "--is-bare-repository") == "true":
        top = ""
    elif common.endswith("/.git"):
        top = common.removesuffix("/.git")
    elif not (top := main.config("core.worktree")):
        return  # git has no record of it, either; the hooks look for the `.git` that names this directory
    top = os.path.normpath(os.path.join(common, top)) if top else ""
    link = f"{top.rstrip('/')}/.git"
    place = os.path.relpath(link if git.leads_back(link, common) else top, common) if top else ""
    files.replace(common + git.ROOT, f"{place}\n".encode("utf-8", "surrogateescape"))


def _record_default_branch(repo: Repository) -> None:
    """Leaves the default branch where branches may be renamed later. Only a person's install replaces what is known."""
    known = default_branch.installed(repo)
    found = default_branch.default_branch(repo) if not known or identify(repo.env).kind == "human" else known
    if found and found != known:
        files.replace(repo.common_dir + git.DEFAULT_BRANCH, f"{found}\n".encode("utf-8", "surrogateescape"))


def noted(repo: Repository) -> str:
    """The id of the log that the hooks were installed with, "" when they are not. Raises AhpError."""
    return noted_genesis(repo.ahp_dir) or ""


def installed_log(repo: Repository) -> str:
    """The id of the log that the shims in place know, whatever became of its folder; "" without any."""
    asked = asked_folder(repo)
    for hook in HOOKS:
        for path in (f"{asked}/{hook}", f"{repo.common_dir}/hooks/{hook}"):
            if owner(path) == "ahp" and (found := _LOG_ID.search(files.read(path) or b"")):
                return found[1].decode()
    return ""


def shim(hook: str, known: dict[str, str]) -> bytes:
    """The text of one shim; `known` is what `baked` gives."""
    trigger = TRIGGERS[hook]
    text = template(f"git/{HOOKS[hook].module.replace('_', '-')}").replace("@COMMON@\n", template("git/common.sh"))
    for name, value in {"HOOK": hook, "VERB": "" if trigger.post else trigger.act, **known}.items():
        text = text.replace(f"@{name}@", shlex.quote(value))
    return text.encode("utf-8", "surrogateescape")


def baked(repo: Repository, genesis: str, user_policy: str) -> dict[str, str]:
    """What the shims of this installation have to know, by the name of its place in the templates."""
    path, paths = repo.ahp_dir + bundle.PLACE, installation.import_paths()
    is_gits = hooks_folder(repo)[0] == repo.common_dir + "/hooks"
    return {
        "PYTHON": installation.interpreter(),
        "PACKAGE": f"{package()}/__init__.py",
        "PROGRAM": installed.program(),
        "INSTALL": installed.command(here=False),
        "BUNDLE": path,
        # Of a folder within the work tree, what lies near it may be anybody's.
        "NEAR": f"../ahp{bundle.PLACE}" if is_gits else "",
        "START": f"import sys; sys.path += {paths!r}; from ahp.hosts.git.main import main; main({path!r})",
        "LOG": genesis,
        "USER": f"{os.getuid()}:{user_policy}",
        "GIT": _git_program(repo),
        "OTHERS": " ".join(markers()),
    }


def _git_program(repo: Repository) -> str:
    found = process.find(repo.git, environ.current())
    if found is None:
        raise AhpError("git is not on PATH")
    return os.path.abspath(found)


def asked_folder(repo: Repository) -> str:
    """The folder that git takes hooks from."""
    told = repo.run("config", "--type=path", "--get", "core.hooksPath", ok=(0, 1)).decode("utf-8", "surrogateescape")
    return os.path.normpath(os.path.join(repo.root, told.removesuffix("\n") if told else f"{repo.common_dir}/hooks"))


def no_folder(repo: Repository) -> tuple[str, str] | None:
    """(why there is no place for hooks, what mends it) where this repository's `core.hooksPath` is no folder.

    `/dev/null` is a usual way to switch hooks off. What is named for all repositories is left alone.
    """
    folder, _ = hooks_folder(repo)
    if not os.path.lexists(folder) or os.path.isdir(folder):
        return None
    told = repo.line("config", "--show-origin", "--get", "core.hooksPath", ok=(0, 1)).split("\t")[0]
    where = told.removeprefix("file:")
    unset = f"mv {shlex.quote(folder)} ELSEWHERE"
    if where:  # it may be in a file that the configuration includes
        whose = "" if os.path.join(repo.root, where) == f"{repo.common_dir}/config" else f"--file {shlex.quote(where)} "
        unset = f"git config {whose}--unset core.hooksPath"
    return f"git takes hooks from {folder}, which is no folder, so it runs none", f"{unset} && ahp install git"


def hooks_folder(repo: Repository) -> tuple[str, str]:
    """The folder to install into, and the user's or machine's shared one that its hooks have to call ("" if none)."""
    asked = asked_folder(repo)
    scope = repo.line("config", "--show-scope", "--get", "core.hooksPath", ok=(0, 1)).split("\t")[0]
    shared = str(install_record(repo.ahp_dir).get("shared") or "")
    if scope == "local" and husky.is_active(asked):
        return repo.common_dir + "/hooks", ""
    if shared and scope == "local":
        return asked, shared
    if scope in ("global", "system", "command"):
        return repo.ahp_dir + "/hooks", asked
    return asked, ""


def _join_husky(repo: Repository, committed: str, known: dict[str, str]) -> list[str]:
    """Puts our line into husky's committed hooks and what it calls into this clone; the hooks with lines of others."""
    if not committed:
        return []
    folder = repo.ahp_dir + _HUSKY
    files.make_dirs(folder)
    files.replace(f"{folder}/line.sh", template("git/husky.sh").encode())
    for hook in HOOKS:
        write(f"{folder}/{hook}.sh", shim(hook, known))
    return [hook for hook in HOOKS if husky.join(f"{committed}/{hook}")]


def made_before(repo: Repository) -> list[str]:
    """The commits at the ends of all that was there when the gate was first put in place: nobody could judge those."""
    known = install_record(repo.ahp_dir).get("before")
    return [str(tip) for tip in known] if isinstance(known, list) else []


def _tips(repo: Repository) -> list[str]:
    """The commits at the ends of all that is here: of each branch and tag, and where each work tree is."""
    each = "%(objectname) %(objecttype)%0a%(*objectname) %(*objecttype)"
    listed = repo.run("for-each-ref", f"--format={each}", "refs/heads", "refs/tags").decode()
    commits = [line.split()[0] for line in listed.splitlines() if line.endswith(" commit")]
    trees = repo.run("worktree", "list", "--porcelain").decode("utf-8", "replace")
    heads = [line[5:] for line in trees.splitlines() if line.startswith("HEAD ") and line[5:].strip("0")]
    return list(dict.fromkeys([*heads, *commits]))


def _first_tips(repo: Repository) -> list[str] | None:
    """What the first install found, as the log has it: its record beside the log may have been removed."""
    for line in (line for part in segments.listed(repo.ahp_dir) for line in segments.forward_in(part)):
        record = line.record() if b'"install"' in line.raw else None
        if record and record.get("kind") == "install" and isinstance(tips := record.get("tips"), list):
            return [str(tip) for tip in tips]
    return None


def _log(repo: Repository, genesis: str, what: str, folders: list[str], tips: list[str]) -> None:
    """Leaves in the log that the hooks were `installed` or `removed`, by whom, and what there was then."""
    by = str(identify(environ.current()))
    reason = f"git hooks {what}: {', '.join(folders)}"
    record = records.other("install", clock.iso(clock.now()), host="git", what=what, actor=by, reason=reason, tips=tips)
    Journal(repo.ahp_dir, genesis or None).append([record], durable=True)


def _folders(record: dict[str, object]) -> list[str]:
    """Every folder that has our hooks: a work tree may have one of its own (`extensions.worktreeConfig`)."""
    listed = record.get("folders")
    known = listed if isinstance(listed, list) else [record.get("folder")]
    return [str(folder) for folder in known if folder]


def _keep(repo: Repository, record: dict[str, object]) -> None:
    files.replace(repo.ahp_dir + INSTALL_RECORD, (jsontext.encode(record) + "\n").encode("utf-8", "surrogateescape"))


def _pass_on(path: str, shared: str) -> bool:
    """A hook that only calls the shared one of the same name."""
    if not os.access(shared, os.X_OK) or os.path.isdir(shared):
        return False
    if owner(path) in ("", "ahp"):
        pass_on(path, shared)
    return True
