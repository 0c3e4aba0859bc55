"""The no-signal path loads nothing that costs milliseconds (design §11, §12)."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

import ahp
from tests.hosts.git.gated import Gated

# As the bench policy does: files, branch and commit facts.
POLICY = """\
version: 1
limits: {protected: [release], max_files: {production: 10, default: 30}}
environment: {production: branch.name in limits.protected}
escalation: {ladder: [prompt, control, block], after: 1}
rules:
  size: {at: pre-commit, prompt: files.changed_count > limits.max_files}
  lines: {at: pre-commit, prompt: files.lines_changed > 10000}
  branch: {at: [pre-commit, pre-push], block: branch.name in limits.protected}
  merge: {at: pre-commit, block: commit.is_merge and files.changed_count > 100}
  names: {at: pre-commit, each: p in files.changed, block: "glob(p, '*.pem')"}
  default: {at: pre-commit, prompt: branch.is_detached and files.deleted == files.changed and files.changed_count > 9}
"""
PACKAGE = Path(ahp.__file__).parent
ALLOWED = frozenset(
    {"_json", "_sha2", "_sha256", "_signal", "_thread", "errno", "gc", "marshal", "posix", "sys", "time"}
)

SPY = """
import posix, sys
leave = posix._exit
def spy(code):
    posix.write(2, ("\\n".join(sys.modules) + "\\n").encode())
    leave(code)
posix._exit = spy
sys.argv = {argv!r}
"""
BUNDLED = SPY + "import marshal\nexec(marshal.loads(open(sys.argv[0], 'rb').read()[16:]), {{'__name__': '__main__'}})"
PLAIN = SPY + "exec({start!r})"


def baked(gated: Gated) -> dict[str, str]:
    """What the shim holds, by name."""
    lines = (gated.root / ".git" / "hooks" / "pre-commit").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and " " not in line.split("=")[0])


def modules(gated: Gated, way: str, hook: str, code: int = 0) -> set[str]:
    """What is loaded when a quiet hook ends."""
    values = {name: shlex.split(value)[0] for name, value in baked(gated).items() if value.startswith(("'", "/"))}
    argv = [values["bundle"], hook, "1", gated.log("genesis")[0]["id"], str(gated.user_policy), shutil.which("git")]
    # Without its bundle a hook also writes it; that is no part of the path.
    values["start"] = values["start"].replace(f"main({values['bundle']!r})", "main()")
    program = way.format(argv=argv if way is BUNDLED else ["-c", *argv[1:]], start=values["start"])
    for _ in range(2):  # the first renews a bundle that is stale because somebody is working on ahp
        done = subprocess.run(
            [values["python"], "-I", "-S", "-c", program],
            cwd=gated.root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    assert done.returncode == code, done.stderr
    return set(done.stderr.decode().split())


def started_with(gated: Gated) -> set[str]:
    """What plain Python loads to start."""
    python = shlex.split(baked(gated)["python"])[0]
    done = subprocess.run(
        [python, "-I", "-S", "-c", "import sys; print(*sys.modules)"], capture_output=True, check=True, text=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize("way", [BUNDLED, PLAIN], ids=["bundle", "sources"])
def test_a_quiet_commit_loads_only_what_is_allowed(gated: Gated, way: str) -> None:
    gated.policy(POLICY)
    gated.write("a.txt")
    gated.add()
    loaded = modules(gated, way, "pre-commit")
    assert "ahp.gate.decide" in loaded
    assert set(gated.judged()) == {("pre-commit", "allow")}
    own = started_with(gated)
    assert {name for name in loaded - own if name.split(".")[0] != "ahp"} <= ALLOWED
    rich = {"ahp.gate.answer", "ahp.policy.compile", "ahp.system.process", "ahp.journal.state", "ahp.hosts.git.bundle"}
    assert loaded & rich == set()


@pytest.mark.parametrize(("place", "quietly", "firing"), [("commit_policy", 55, 85), ("policy", 57, 87)])
def test_no_module_joins_the_path_unnoticed(gated: Gated, place: str, quietly: int, firing: int) -> None:
    """With a committed policy, and with one that is adopted just now."""
    known = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in PACKAGE.rglob("*.py")}
    known = {name.removesuffix(".__init__") for name in known}
    getattr(gated, place)(POLICY)
    gated.write("a.txt")
    gated.add()
    quiet = modules(gated, BUNDLED, "pre-commit") & known
    getattr(gated, place)(POLICY.replace("'*.pem'", "'*.txt'"))
    fired = modules(gated, BUNDLED, "pre-commit", code=1) & known
    assert len(quiet) <= quietly, sorted(quiet)
    # A block reads the change's lines, for a person's answer is bound to them.
    assert len(fired) <= firing, sorted(fired)


def test_a_fact_that_git_has_to_be_asked_for_costs_one_module_more(gated: Gated) -> None:
    gated.policy(POLICY + "  author: {at: pre-commit, block: commit.author_email.endswith('.invalid')}\n")
    gated.write("a.txt")
    gated.add()
    loaded = modules(gated, BUNDLED, "pre-commit") - started_with(gated)
    assert {name for name in loaded if name.split(".")[0] != "ahp"} <= {*ALLOWED, "select"}
    assert "ahp.system.process" in loaded


def test_a_quiet_hook_after_the_commit_loads_no_rich_library(gated: Gated) -> None:
    gated.policy(POLICY)
    gated.commit("x", **{"a.txt": "1\n"})
    loaded = modules(gated, BUNDLED, "post-commit")
    assert loaded & {"pydantic", "yaml", "click", "rich", "git", "simpleeval", "subprocess", "sqlite3", "json"} == set()


def test_a_firing_rule_on_a_warm_cache_loads_no_rich_library(gated: Gated) -> None:
    gated.policy(POLICY.replace("'*.pem'", "'*.txt'"))
    gated.write("a.txt")
    gated.add()
    loaded = modules(gated, BUNDLED, "pre-commit", code=1)
    assert "ahp.gate.answer" in loaded
    assert loaded & {"pydantic", "yaml", "click", "rich", "git", "simpleeval", "subprocess", "tree_sitter"} == set()
