"""`ahp doctor`: what it finds wrong, what it mends, and that it touches nothing else (design §9)."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sqlite3
from pathlib import Path

import pytest

from ahp.hosts.git import bundle, doctor, policy_checks
from ahp.hosts.git import install as installing
from ahp.hosts.git.githooks import HOOKS
from ahp.hosts.git.probe import probe
from ahp.hosts.table import Check
from ahp.journal.append import Journal
from ahp.journal.state import State
from ahp.system.errors import AhpError
from tests.hosts.git.gated import Gated, shims
from tests.hosts.git.test_hook_managers import CHAINS, LEFTHOOK
from tests.hosts.git.test_husky import set_up
from tests.hosts.git.unprivileged import as_an_ordinary_user

POLICY = """\
version: 1
rules:
  names: {at: pre-commit, each: p in files.changed, block: "p.startswith('bad')", message: bad}
"""


@pytest.fixture
def gated(gated: Gated) -> Gated:
    """The gate with a policy, installed by this interpreter into this place."""
    gated.policy(POLICY)
    installing.install(gated.repository(), str(gated.user_policy))
    return gated


def examine(gated: Gated) -> dict[str, Check]:
    return {check.name: check for check in doctor.examine(gated.repository(), str(gated.user_policy))}


def hook(gated: Gated, name: str) -> Check:
    """The check of one hook."""
    with probe(gated.repository()) as scratch:
        return doctor._hook(gated.repository(), name, scratch)


def everything(gated: Gated) -> dict[str, bytes]:
    """Every file of the repository, but what is deletable and rebuilt."""
    found = {}
    for folder, names, files in os.walk(gated.root):
        names[:] = [name for name in names if name != "cache"]
        for name in files:
            path = Path(folder, name)
            found[str(path.relative_to(gated.root))] = path.read_bytes()
    return found


@pytest.mark.slow
def test_all_is_well_and_nothing_is_touched(gated: Gated) -> None:
    gated.write("staged.txt")
    gated.add("staged.txt")
    gated.write("staged.txt", "not staged\n")
    before = everything(gated)
    checks = examine(gated)
    assert {check.status for check in checks.values()} == {"ok"}
    assert list(checks) == [
        *("policy", *HOOKS),
        *("interpreter", "libraries", "log", "state", "git directory"),
        *("compiled policy", "committed policy", "commands"),
    ]
    assert checks["policy"].detail == "1 rule"
    idle = "reached by commits whose message a rule reads"
    assert {name: checks[name].detail for name in HOOKS} == {**dict.fromkeys(HOOKS, "reached"), "commit-msg": idle}
    assert everything(gated) == before
    assert not doctor.fix(gated.repository(), "", list(checks.values()))


@pytest.mark.parametrize(("text", "why"), [(None, "is missing"), ("", "has no rule"), ("rules: [", "does not load")])
@pytest.mark.slow
def test_a_work_tree_without_the_policy_that_judges_is_told(gated: Gated, text: str | None, why: str) -> None:
    gated.git("add", "-f", ".ahp/hooks.yaml")
    gated.git("commit", "-q", "-m", "policy")
    path = gated.root / ".ahp" / "hooks.yaml"
    path.unlink() if text is None else path.write_text(text)
    check = examine(gated)["policy"]
    assert (check.status, why in check.detail) == ("note", True) and "HEAD judges" in check.detail


@pytest.mark.slow
def test_a_team_that_gave_ahp_up_is_told(gated: Gated) -> None:
    gated.git("add", "-f", ".ahp/hooks.yaml")
    gated.git("commit", "-q", "-m", "policy")
    gated.git("rm", "-q", ".ahp/hooks.yaml")
    gated.git("commit", "-q", "-m", "no policy any more")
    check = examine(gated)["policy"]
    assert (check.status, "nobody judges" in check.detail) == ("note", True)


def test_a_bare_repository_has_no_hooks_to_look_at(tmp_path: Path, gated: Gated) -> None:
    gated.git("init", "-q", "--bare", str(tmp_path / "bare"))
    with pytest.raises(AhpError, match="bare"):
        examine(Gated(tmp_path / "bare"))


@pytest.mark.slow
def test_without_a_gate_each_hook_is_missing_and_fix_installs_it(gated: Gated) -> None:
    installing.uninstall(gated.repository())
    shutil.rmtree(gated.folder)
    checks = examine(gated)
    assert {checks[name].status for name in (*HOOKS, "log", "interpreter")} == {"wrong"}
    assert checks["pre-push"].detail.endswith("pre-push is not there")
    assert checks["log"].detail.endswith("signals.jsonl is not there")
    assert doctor.fix(gated.repository(), str(gated.user_policy), list(checks.values()))
    assert {check.status for check in examine(gated).values()} == {"ok"}


def test_a_hook_that_git_skips_or_that_is_another_s_is_told(gated: Gated) -> None:
    path = gated.root / ".git/hooks/pre-commit"
    text = path.read_bytes()
    path.chmod(0o644)
    assert "may not be executed, so git skips it" in hook(gated, "pre-commit").detail
    path.chmod(0o755)
    gated.write(".git/hooks/pre-commit", LEFTHOOK, 0o755)
    assert hook(gated, "pre-commit").detail == "lefthook took ahp's place and does not run it"
    gated.write(".git/hooks/pre-commit", CHAINS, 0o755)
    assert hook(gated, "pre-commit").detail == "pre-commit is in ahp's place and does not run it"
    (gated.root / ".git/hooks/pre-commit.legacy").write_bytes(text)
    assert hook(gated, "pre-commit").status == "wrong"
    (gated.root / ".git/hooks/pre-commit.legacy").chmod(0o755)
    assert hook(gated, "pre-commit") == Check("pre-commit", "ok", "reached through pre-commit")


@pytest.mark.slow
def test_hooks_that_were_switched_off_by_a_path_that_is_no_folder(gated: Gated) -> None:
    gated.git("config", "core.hooksPath", "/dev/null")
    mend = "git config --unset core.hooksPath && ahp install git"
    said = "git takes hooks from /dev/null, which is no folder, so it runs none"
    assert hook(gated, "pre-push") == Check("pre-push", "wrong", said, mend)
    assert doctor.fix(gated.repository(), str(gated.user_policy), [hook(gated, "pre-push")]) == []
    with pytest.raises(AhpError, match=re.escape(f"{said}; fix: {mend}")):
        installing.install(gated.repository(), str(gated.user_policy))
    assert gated.run("sh", "-c", mend).returncode == 0
    assert hook(gated, "pre-push").status == "ok"
    included = str(gated.root.parent / "more config")
    gated.git("config", "--file", included, "core.hooksPath", "/dev/null")
    gated.git("config", "include.path", included)
    assert gated.run("sh", "-c", str(hook(gated, "pre-push").mend)).returncode == 0
    assert hook(gated, "pre-push").status == "ok"


def test_another_s_script_is_told_and_never_run(gated: Gated, tmp_path: Path) -> None:
    gated.write(".git/hooks/pre-push", f"#!/bin/sh\necho ran >{tmp_path}/ran\n", 0o755)
    gated.write(".git/hooks/commit-msg.before-ahp", f"#!/bin/sh\necho ran >{tmp_path}/ran\nexit 1\n", 0o755)
    assert "is another program's" in hook(gated, "pre-push").detail
    assert hook(gated, "commit-msg").status == "ok"
    assert not (tmp_path / "ran").exists()


def test_a_shim_that_was_made_to_pass_is_found_out(gated: Gated) -> None:
    path = gated.root / ".git/hooks/pre-commit"
    path.write_text(path.read_text().replace("#!/bin/sh\n", "#!/bin/sh\nexit 0\n"))
    check = hook(gated, "pre-commit")
    assert (check.status, check.ours, check.mend) == ("wrong", True, "ahp install git")
    assert check.detail == "it ended with 0 without ahp's refusal: it says nothing"
    check = doctor._interpreter(gated.repository(), str(gated.user_policy))
    assert check.detail == "pre-commit is not the shim that this ahp installs"
    installing.install(gated.repository(), str(gated.user_policy))
    assert doctor._interpreter(gated.repository(), str(gated.user_policy)).status == "ok"
    path.write_text(re.sub("^log=.*$", "log=another", path.read_text(), flags=re.MULTILINE))
    assert doctor._interpreter(gated.repository(), str(gated.user_policy)).status == "wrong"
    installing.install(gated.repository(), str(gated.user_policy))
    moved = Gated(gated.root.rename(gated.root.parent / "moved"))
    assert doctor._interpreter(moved.repository(), str(gated.user_policy)).status == "wrong"


@pytest.mark.slow
def test_through_husky_each_hook_is_proved(gated: Gated, tmp_path: Path) -> None:
    gated.write(".husky/pre-commit", f"echo ran >{tmp_path}/ran\n")
    set_up(gated)
    assert hook(gated, "pre-commit").detail == "husky took ahp's place and does not run it"
    installing.install(gated.repository(), str(gated.user_policy))
    for name in HOOKS:
        assert hook(gated, name) == Check(name, "ok", "reached through husky")
    assert not (tmp_path / "ran").exists()
    path = gated.root / ".husky/pre-commit"
    path.write_bytes(b"exit 0\n" + path.read_bytes())
    check = hook(gated, "pre-commit")
    assert (check.status, check.ours) == ("wrong", False)
    assert "line 1 of" in check.detail
    (gated.root / ".husky/_/commit-msg").unlink()
    assert "husky was not set up in this clone" in hook(gated, "commit-msg").detail
    gated.git("config", "core.hooksPath", ".husky")  # as husky 8 did
    path.write_bytes(path.read_bytes().replace(b"exit 0\n", b""))
    assert hook(gated, "pre-commit").status == "ok"


def test_husky_switched_off_at_home_is_found_out(gated: Gated, monkeypatch: pytest.MonkeyPatch) -> None:
    set_up(gated)
    installing.install(gated.repository(), str(gated.user_policy))
    runner = gated.root / ".husky/_/h"
    runner.write_text('[ "${HUSKY-}" = "0" ] && exit 0\n' + runner.read_text())
    monkeypatch.setenv("HUSKY", "0")
    assert "without ahp's refusal" in hook(gated, "pre-commit").detail


def test_a_policy_that_does_not_load_is_told_with_its_place(gated: Gated) -> None:
    gated.write(".ahp/hooks.yaml", "version: 1\nrules:\n  a: {at: pre-comit, block: 1 > 0}\n")
    check = policy_checks.loaded(gated.repository(), "")
    assert (check.status, check.ours) == ("wrong", False)
    assert check.detail.startswith(".ahp/hooks.yaml:3:")
    (gated.root / ".ahp/hooks.yaml").unlink()
    assert policy_checks.loaded(gated.repository(), "").status == "note"


def test_the_probe_tells_when_the_user_s_policy_keeps_ahp_from_judging(gated: Gated) -> None:
    gated.user_policy.parent.mkdir(exist_ok=True)  # `ahp install git` may keep the machine's id there
    gated.user_policy.write_text("version: 1\nrules: 7\n")
    check = hook(gated, "pre-commit")
    assert check.status == "wrong"
    assert "ahp: cannot judge this pre-commit" in check.detail


def test_a_stale_or_missing_bundle_is_ours_to_mend(gated: Gated, monkeypatch: pytest.MonkeyPatch) -> None:
    path = gated.folder / "cache" / "light.pyc"
    whole = path.read_bytes()
    assert bundle.is_fresh(whole)
    assert not bundle.is_fresh(b"\0\0\0\0" + whole[4:])
    assert not bundle.is_fresh(whole[:40])
    assert not bundle.is_fresh(whole[:-1])
    assert not bundle.is_fresh(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert not bundle.is_fresh(whole[:16] + b"i\1\0\0\0")  # marshal's 1
    path.unlink()
    check = doctor._interpreter(gated.repository(), str(gated.user_policy))
    assert (check.status, check.ours) == ("wrong", True)
    assert "missing or older" in check.detail
    path.write_bytes(whole)
    python = gated.write("python", "#!/bin/sh\nexit 127\n", 0o755)
    monkeypatch.setattr(doctor.installing, "baked", lambda *_: {"PYTHON": str(python), "BUNDLE": str(path)})
    texts = [path.read_bytes() for path in shims(gated)]
    monkeypatch.setattr(doctor.installing, "shim", lambda name, known: dict(zip(HOOKS, texts, strict=True))[name])
    assert doctor._interpreter(gated.repository(), "").detail == f"{python} does not start"


def test_a_log_in_doubt_is_told_and_not_accepted_by_fix(gated: Gated) -> None:
    gated.write("bad.txt")
    gated.add("bad.txt")
    assert gated.say("commit", "-m", "x").code == 1
    log = gated.folder / "signals.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines).replace(b"bad", b"god"))
    (gated.root / ".git/hooks/pre-push").unlink()
    checks = examine(gated)
    assert (checks["log"].status, checks["pre-push"].ours) == ("wrong", True)
    assert not doctor.fix(gated.repository(), str(gated.user_policy), list(checks.values()))
    log.write_bytes(b"".join(lines))
    assert doctor._log(gated.repository()).status == "ok"


def test_a_log_begun_anew_after_it_vanished_says_what_it_replaces(gated: Gated) -> None:
    (gated.folder / "signals.jsonl").unlink()
    (gated.folder / "index").unlink()
    first = installing.noted(gated.repository())
    installing.install(gated.repository(), str(gated.user_policy))
    assert gated.log("genesis")[0]["replaces"] == first
    assert doctor._log(gated.repository()).status == "wrong"


def test_many_doubts_are_counted(gated: Gated, monkeypatch: pytest.MonkeyPatch) -> None:
    report = doctor.verify.Report(3, "", "", ["first", "second", "third"], [])
    monkeypatch.setattr(doctor.verify, "verify", lambda journal, kept: report)
    assert doctor._log(gated.repository()).detail == "first, and 2 more"


def test_a_damaged_record_of_the_installation_is_told(gated: Gated) -> None:
    (gated.folder / "install.json").write_text("{")
    check = examine(gated)["log"]
    assert check.status == "wrong"
    assert "install.json is damaged" in check.detail


@pytest.mark.parametrize(("place", "fix"), [(".git", "chmod u+rwx"), (".git/ahp", "chmod -R u+rwX")])
def test_a_git_directory_that_cannot_be_written_is_told(gated: Gated, place: str, fix: str) -> None:
    path = gated.root / place
    path.chmod(0o500)
    with as_an_ordinary_user():
        check = doctor._writable(gated.repository())
    path.chmod(0o700)
    assert (check.status, check.mend) == ("wrong", f"{fix} {path}")


def test_what_belongs_to_somebody_else_is_given_back(gated: Gated, monkeypatch: pytest.MonkeyPatch) -> None:
    (gated.folder / "signals.lock").chmod(0o400)
    with as_an_ordinary_user():
        monkeypatch.setattr(os, "geteuid", lambda: 4711)
        check = doctor._writable(gated.repository())
    assert check.mend == f'sudo chown -R "$(id -un)" {gated.folder}'


def test_a_file_system_that_is_read_only_is_told(gated: Gated, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.statvfs(gated.folder)
    monkeypatch.setattr(os, "access", lambda path, mode, **_: False)
    monkeypatch.setattr(os, "statvfs", lambda path: os.statvfs_result((*real[:8], os.ST_RDONLY, *real[9:])))
    assert doctor._writable(gated.repository()).mend == "mount its file system for writing"


def test_what_cannot_be_looked_at_is_wrong(gated: Gated, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    def odd() -> Check:
        raise PermissionError(13, "Permission denied", "/x/log")

    assert doctor._tried("log", odd) == Check("log", "wrong", "/x/log: Permission denied")
    monkeypatch.setattr("tempfile.mkdtemp", full)
    (check,) = doctor._hooks(gated.repository())
    assert check.detail == "cannot make a scratch repository: No space left on device"


def test_the_probe_goes_elsewhere_when_it_cannot_lie_beside_the_log(gated: Gated) -> None:
    gated.folder.chmod(0o500)
    try:
        with as_an_ordinary_user(), probe(gated.repository()) as scratch:
            assert not scratch.root.startswith(str(gated.root))
            assert scratch.ask("pre-commit") == ""
    finally:
        gated.folder.chmod(0o700)


@pytest.mark.usefixtures("person")
@pytest.mark.slow
def test_a_state_that_was_forged_and_a_clock_that_ran_ahead_are_told_and_mended(
    gated: Gated, monkeypatch: pytest.MonkeyPatch
) -> None:
    gated.write("bad.txt")
    gated.add("bad.txt")
    for _ in range(2):
        assert gated.say("commit", "-m", "x").code == 1
    with contextlib.closing(sqlite3.connect(gated.folder / "state.db")) as db, db:
        db.execute("UPDATE episodes SET data = json_set(data, '$.count', 7)")
    assert examine(gated)["state"].status == "ok"  # a row that ahp did not write has it made anew
    journal = Journal(str(gated.folder))
    with State.open(journal) as state:
        episodes = [state.episode(key) for key in state.store.open_keys()]
        assert [episode.count for episode in episodes if episode] == [0]
    journal.append([{"kind": "verdict", "timestamp": "2099-10-10T00:00:00.000Z"}])
    check = examine(gated)["clock"]
    assert "days ahead of the clock" in check.detail
    for name in ("CLAUDECODE", "CI", "AHP_AGENT"):
        monkeypatch.delenv(name, raising=False)
    assert doctor.fix(gated.repository(), "", [check]) == ["time in the log goes on from now"]
    assert examine(gated)["state"].status == "ok"
