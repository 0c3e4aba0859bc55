"""Putting the git shims in place, and taking them away again (design §9).

Hooks that are there already keep running and come back on uninstall. A `core.hooksPath` of the user or the machine is
left to the other repositories: this one gets a folder of its own whose hooks call those.
"""

import os
import shlex

from ahp.hosts.git import bundle
from ahp.journal.append import Journal
from ahp.journal.heal import heal
from ahp.system import environ, files, jsontext, process
from ahp.system.errors import AhpError
from ahp.system.git import Repository
from ahp.system.view import RAW

HOOKS = ("pre-commit", "commit-msg", "pre-merge-commit", "pre-push", "post-commit")
MARK = b"`ahp install git`"
KEPT = ".before-ahp"
_RECORD = "/ahp/install.json"
_BUNDLE = "/ahp/cache/light.pyc"
_FOREIGN = (
    *("applypatch-msg", "pre-applypatch", "post-applypatch", "prepare-commit-msg", "pre-rebase", "post-checkout"),
    *("post-merge", "post-rewrite", "pre-auto-gc", "reference-transaction", "post-index-change", "sendemail-validate"),
    *("push-to-checkout", "fsmonitor-watchman"),
)


class Installed:
    """What `install` did: the folder of the hooks, those it wrote, and the earlier ones that keep running."""

    def __init__(self, folder: str, written: list[str], kept: list[str]) -> None:
        self.folder, self.written, self.kept = folder, written, kept


def install(repo: Repository, user_policy: str) -> Installed:
    """Writes the shims of all hooks; a second time it only renews them. Raises AhpError, GitError."""
    if not repo.root:
        raise AhpError("this repository is bare: no commit is made here, so there is nothing for hooks to judge")
    files.make_dirs(repo.common_dir + "/ahp")
    genesis = heal(Journal(repo.common_dir + "/ahp"), create=True).genesis
    folder, shared = _hooks_folder(repo)
    os.makedirs(folder, exist_ok=True)
    baked = _baked(repo, genesis, user_policy)
    written, kept = [], []
    for hook in HOOKS:
        path = f"{folder}/{hook}"
        if _keep(path, f"{shared}/{hook}" if shared else ""):
            kept.append(hook)
        _write(path, shim(hook, baked))
        written.append(hook)
    if shared:
        kept += [hook for hook in _FOREIGN if _pass_on(f"{folder}/{hook}", f"{shared}/{hook}")]
        repo.run("config", "--local", "core.hooksPath", folder)
    record = {"folder": folder, "shared": shared, "hooks": written, "genesis": genesis}
    files.replace(repo.common_dir + _RECORD, (jsontext.encode(record) + "\n").encode("utf-8", "surrogateescape"))
    return Installed(folder, written, kept)


def uninstall(repo: Repository) -> Installed:
    """Removes our shims and puts earlier hooks back. The log and the policy stay. Raises AhpError, GitError."""
    record = _record(repo)
    shared = str(record.get("shared") or "")
    folder = str(record.get("folder") or "") or _asked_folder(repo)
    removed, restored = [], []
    for hook in (*HOOKS, *_FOREIGN):
        path = f"{folder}/{hook}"
        if not _ours(path):
            continue
        os.unlink(path)
        removed.append(hook)
        if os.path.lexists(path + KEPT):
            if shared and os.path.islink(path + KEPT):
                os.unlink(path + KEPT)
            else:
                os.rename(path + KEPT, path)
                restored.append(hook)
    if shared and repo.config("core.hooksPath") == folder:
        repo.run("config", "--local", "--unset", "core.hooksPath")
    if os.path.exists(repo.common_dir + _RECORD):
        os.unlink(repo.common_dir + _RECORD)
    return Installed(folder, removed, restored)


def shim(hook: str, baked: dict[str, str]) -> bytes:
    """The text of one shim; `baked` are the absolute paths of this installation and this repository."""
    common = _template("common.sh")
    for name, value in baked.items():
        common = common.replace(f"@{name}@", shlex.quote(value))
    text = _template(hook).replace("@COMMON@\n", common.replace("@RAW@", " ".join(RAW)))
    return text.encode("utf-8", "surrogateescape")


def _baked(repo: Repository, genesis: str, user_policy: str) -> dict[str, str]:
    path = repo.common_dir + _BUNDLE
    python, paths = bundle.interpreter(), bundle.import_paths()
    bundle.write(path, python, paths)
    return {
        "PYTHON": python,
        "PACKAGE": f"{_package()}/__init__.py",
        "BUNDLE": path,
        "START": f"import sys; sys.path += {paths!r}; from ahp.hosts.git.hook import main; main({path!r})",
        "LOG": genesis,
        "USER": user_policy,
        "GIT": _git_program(repo),
    }


def _package() -> str:
    import ahp

    return os.path.dirname(os.path.abspath(ahp.__file__))


def _template(name: str) -> str:
    for folder in (f"{_package()}/hosts/installed/git", f"{os.path.dirname(_package())}/hooks/git"):
        data = files.read(f"{folder}/{name}")
        if data is not None:
            return data.decode()
    raise AhpError(f"this installation of ahp lacks its hook template {name}; reinstall ahp-engine")


def _git_program(repo: Repository) -> str:
    found = process.find(repo.git, environ.current())
    if found is None:
        raise AhpError("git is not on PATH")
    return os.path.abspath(found)


def _asked_folder(repo: Repository) -> str:
    named = repo.run("rev-parse", "--git-path", "hooks").decode("utf-8", "surrogateescape").removesuffix("\n")
    return os.path.normpath(os.path.join(repo.root, named))


def _hooks_folder(repo: Repository) -> tuple[str, str]:
    """The folder to install into, and the user's or machine's shared one that its hooks have to call ("" if none)."""
    asked = _asked_folder(repo)
    scope = repo.line("config", "--show-scope", "--get", "core.hooksPath", ok=(0, 1)).split("\t")[0]
    shared = str(_record(repo).get("shared") or "")
    if shared and scope == "local":
        return asked, shared
    if scope in ("global", "system", "command"):
        return repo.common_dir + "/ahp/hooks", asked
    return asked, ""


def _record(repo: Repository) -> dict[str, object]:
    data = files.read(repo.common_dir + _RECORD, 1 << 16)
    try:
        record = jsontext.decode((data or b"{}").decode("utf-8", "surrogateescape"))
    except ValueError:
        record = None
    if not isinstance(record, dict):
        raise AhpError(f"{repo.common_dir}{_RECORD} is damaged; remove it and run ahp install git again")
    return record


def _keep(path: str, shared: str) -> bool:
    """Moves an earlier hook aside, or links to the shared one; whether there is one."""
    if os.path.lexists(path) and not _ours(path):
        if os.path.lexists(path + KEPT):
            raise AhpError(f"both {path} and {path + KEPT} exist; remove the one that is not needed")
        os.rename(path, path + KEPT)
    if shared and not os.path.lexists(path + KEPT) and os.access(shared, os.X_OK):
        os.symlink(shared, path + KEPT)
    return os.access(path + KEPT, os.X_OK)


def _pass_on(path: str, shared: str) -> bool:
    """A hook that only calls the shared one of the same name."""
    if not os.access(shared, os.X_OK) or os.path.isdir(shared):
        return False
    if not os.path.lexists(path) or _ours(path):
        about = f"# The hook that core.hooksPath names; put here by {MARK.decode()}."
        text = f'#!/bin/sh\n{about}\nexec {shlex.quote(shared)} "$@"\n'
        _write(path, text.encode("utf-8", "surrogateescape"))
    return True


def _ours(path: str) -> bool:
    if not os.path.isfile(path):
        return False
    return MARK in (files.read(path, 1 << 20) or b"")


def _write(path: str, text: bytes) -> None:
    if os.path.islink(path):
        os.unlink(path)
    files.replace(path, text, 0o755)
