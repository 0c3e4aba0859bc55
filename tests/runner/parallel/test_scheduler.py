"""Steps side by side: ahp.runner.parallel.scheduler, with real work trees"""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from ahp.protocol.verdict import Verdict
from ahp.runner.gating.gate_adapter import RepositoryGate
from ahp.runner.models.model import Answer
from ahp.runner.parallel.checkouts import Checkout, Checkouts
from ahp.runner.run.conversation import Message, RoleOrder
from ahp.runner.run.events import EventLog, read_events
from ahp.system import trees
from ahp.system.errors import AhpError
from ahp.system.interrupt import Ended
from tests.conftest import Repo
from tests.runner.parallel.scenes import Scene, StepModel, edit, run, write
from tests.runner.runs import plan
from tests.system.test_descendants import alive


def project(repo: Repo) -> Path:
    repo.write("a.txt", "".join(f"line {number}\n" for number in range(1, 21)))
    repo.write(".gitignore", "ignored/\nnode_modules/\n.env\n")
    repo.add()
    repo.git("commit", "--quiet", "-m", "begin")
    repo.write("a.txt", "".join(f"line {number}\n" for number in range(1, 21)) + "not committed\n")
    repo.write("untracked", "mine\n")
    return repo.root


def test_independent_steps_are_merged_in_the_order_of_the_plan(repo: Repo) -> None:
    root = project(repo)
    before = repo.git("status", "--short"), repo.git("rev-parse", "HEAD")
    calls = {
        "slow": [run("sleep 0.1; cat untracked > copy"), edit("a.txt", "line 3\n", "line three\n")],
        "quick": [edit("a.txt", "line 15\n", "line fifteen\n")],
        "gone": [run("rm untracked; mkdir -p d; echo x > d/e")],
        "after": [run("cat a.txt d/e > all")],
    }
    scene = Scene(root, calls, plan(*calls, after=["slow", "quick", "gone"]))
    assert scene.turn.ok, scene.turn
    assert scene.merged == ["slow", "quick", "gone"]
    lines = (root / "a.txt").read_text().splitlines()
    assert (lines[2], lines[14], lines[20]) == ("line three", "line fifteen", "not committed")
    assert (root / "copy").read_text() == "mine\n" and not (root / "untracked").exists()
    assert (root / "all").read_text().endswith("x\n")
    assert repo.git("rev-parse", "HEAD") == before[1]
    assert repo.git("diff", "--cached", "--name-only") == ""
    assert repo.git("worktree", "list").count("\n") == 0


def test_what_does_not_fit_is_done_again_under_a_new_id(repo: Repo) -> None:
    root = project(repo)
    calls = {
        "one": [run("sleep 0.1"), edit("a.txt", "line 3\n", "line three\n")],
        "two": [edit("a.txt", "line 3\n", "line THREE\n")],
        "two-2": [edit("a.txt", "line three\n", "line three THREE\n")],
        "last": [run("grep THREE a.txt > found")],
    }
    scene = Scene(root, calls, plan("one", "two", "last", last=["two"]))
    assert scene.turn.ok, scene.turn
    assert (root / "a.txt").read_text().splitlines()[2] == "line three THREE"
    assert (root / "found").read_text() == "line three THREE\n"
    [conflict] = scene.of("step_conflict")
    assert (conflict["step_id"], conflict["new_id"], conflict["paths"], conflict["used"]) == (
        "two",
        "two-2",
        ["a.txt"],
        1,
    )
    assert scene.turn.plan is not None
    assert [(step.id, step.status) for step in scene.turn.plan.steps] == [
        ("one", "done"),
        ("two-2", "done"),
        ("last", "done"),
    ]
    opening = scene.model.heard["two-2"][0][1]["content"]
    assert "This step was done before, as two," in opening and "+line THREE" in opening


def test_without_a_replan_left_what_does_not_fit_fails_its_step(repo: Repo) -> None:
    root = project(repo)
    calls = {"one": [run("sleep 0.1; echo 1 > same")], "two": [run("echo 2 > same")], "three": [run("echo 3 > other")]}
    log = EventLog(str(root / ".git" / "run" / "events.jsonl"))
    scene = Scene(root, calls, max_replans=0, log=log)
    assert scene.turn.stop_reason == "MAX_REPLANS"
    [patch] = (root / ".git" / "run").glob("*.patch")
    assert scene.turn.notes == [f"What step two changed was not merged; it is in {patch}."]
    assert "+2" in patch.read_text().splitlines()
    assert "what step two changed cannot be merged: same" in scene.of("plan_step_end", "two")[0]["problem"]
    assert ((root / "same").read_text(), (root / "other").read_text()) == ("1\n", "3\n")


def test_a_failed_step_stops_no_other_one_and_leads_to_a_new_plan(repo: Repo) -> None:
    root = project(repo)
    calls = {
        "bad": [run("echo half > half"), '{"control": "replan", "reason": "no way"}'],
        "good": [run("sleep 0.1; echo good > good")],
        "never": [run("echo never > never")],
        "mended": [run("cat half good > whole")],
    }
    scene = Scene(root, calls, plan("bad", "good", "never", never=["bad"]), plan("mended"))
    assert scene.turn.ok, scene.turn
    assert (root / "whole").read_text() == "half\ngood\n" and not (root / "never").exists()
    assert [event["step_id"] for event in scene.of("plan_step_end")] == ["bad", "good", "mended"]
    assert "The plan has to change: step bad asks for it: no way" in scene.model.heard[""][1][1]["content"]


@pytest.mark.slow
def test_a_policy_never_sees_the_checkout_and_holds_in_it(repo: Repo) -> None:
    repo.write(
        ".ahp/hooks.yaml",
        """\
version: 1
rules:
  no-secrets: {at: pre-tool-use, block: "any(glob(p, 'secrets/**') for p in tool.paths)", message: "keys stay closed"}
  own: {at: pre-tool-use, block: "len(tool.protected) > 0", message: "{tool.protected}"}
  folder: {at: pre-tool-use, block: "any('ahp-steps-' in p for p in tool.paths) or 'ahp-steps-' in tool.command"}
  kept: {at: pre-tool-use, block: "any('KEEP' in line.text for line in diff.removed)", message: this line stays}
""",
    )
    repo.write("secrets/k", "KEY\n")
    root = project(repo)
    asked: list[str] = []

    class Watching(RepositoryGate):
        def ask(self, trigger: str, **more: Any) -> Verdict:
            told = {**(more.get("tool") or {})}
            told.pop("checkout", None)
            touched = told.pop("touched", None)
            asked.append(repr((told, touched and (touched.paths, touched.writes, touched.command))))
            return super().ask(trigger, **more)

    ways = {
        "file": [write("secrets/k", "stolen"), write(f"{root}/secrets/k", "stolen")],
        "shell": [run("pwd; echo x > secrets/k"), run(f"echo x > {root}/secrets/k")],
        "link": [run("ln -s secrets open"), run("echo x > open/k"), write("open/k", "stolen")],
        "away": [run("echo x > ../2/secrets/k"), run("cp a.txt $PWD/secrets/k")],
        "policy": [write(".ahp/hooks.yaml", "version: 1"), run("echo x > .ahp/hooks.yaml"), run("rm .git")],
        "git": [run(f"echo x > {root}/.git/HEAD"), run(f"echo x > {root}/.git/worktrees/1/HEAD")],
        # What a call changes is told from the file as it is in the checkout.
        "lines": [write("new.txt", "KEEP\n"), write("new.txt", "more\n"), write("new.txt", "KEEP\nmore\n")],
    }
    scene = Scene(root, ways, jobs=8, gate=Watching(str(root), session="s1"), max_same_blocks=50)
    assert scene.turn.ok, scene.turn
    codes = {step: [event["code"] for event in scene.of("tool_result", step)] for step in ways}
    assert codes == {
        "file": ["blocked", "E_INVALID_ARGS"],
        "shell": ["blocked", "blocked"],
        "link": ["ok", "blocked", "blocked"],
        "away": ["blocked", "blocked"],
        "policy": ["E_INVALID_ARGS", "blocked", "blocked"],
        "git": ["blocked", "blocked"],
        "lines": ["ok", "blocked", "ok"],
    }
    assert (root / "secrets" / "k").read_text() == "KEY\n"
    assert not any("ahp-steps-" in one for one in asked)


def test_a_block_ends_its_step_and_no_independent_one(repo: Repo) -> None:
    repo.write(
        ".ahp/hooks.yaml",
        "version: 1\nrules:\n  closed: {at: pre-tool-use, block: \"'secrets/k' in tool.paths\", message: closed}\n",
    )
    root = project(repo)
    stolen = write("secrets/k", "stolen")
    calls = {
        "bad": [run("echo half > half"), *[stolen] * 4],
        "never": [run("true")],
        "good": [run("sleep 0.1; echo good > good")],
        "later": [run("cat good > later")],
    }
    log = EventLog(str(root / ".git" / "run" / "events.jsonl"))
    gate = RepositoryGate(str(root), session="s1")
    scene = Scene(root, calls, plan(*calls, never=["bad"], later=["good"]), jobs=2, log=log, gate=gate)
    assert scene.turn.stop_reason == "GATE_BLOCKED", scene.turn
    assert (root / "later").read_text() == "good\n" and not (root / "half").exists()
    assert scene.turn.notes == ["Step bad was broken off: what it changed (half) is kept for ahp agent resume."]
    assert len(repo.git("worktree", "list").splitlines()) == 1

    repo.write(".ahp/hooks.yaml", "version: 1\n")
    log = EventLog(str(root / ".git" / "run" / "events.jsonl"), resumes=True)
    calls["bad"] = [run("echo half > half")]
    scene = Scene(root, calls, jobs=2, log=log, resumes=True)
    assert scene.turn.ok and (root / "half").read_text() == "half\n"
    assert not (root / ".git" / "run" / "trees").exists()


def test_a_step_that_waits_for_one_that_breaks_off_is_merged(repo: Repo) -> None:
    root = project(repo)

    class Wordy(StepModel):
        def query(self, messages: list[Message], **more: Any) -> Answer:
            if messages[1]["content"].startswith("Step wordy"):
                time.sleep(0.1)
                return Answer("only words")
            return super().query(messages, **more)

    calls: dict[str, list[str]] = {"wordy": [], "quick": [run("echo 1 > quick")]}
    scene = Scene(root, calls, model=Wordy([plan(*calls)], calls), max_iterations=6)
    assert scene.turn.stop_reason == "MAX_ITER"
    assert (root / "quick").read_text() == "1\n"


def test_budgets_are_shared_and_counted_exactly(repo: Repo) -> None:
    root = project(repo)
    calls = {f"s{number}": [run("true")] * 6 for number in range(4)}
    scene = Scene(root, calls, budget_tokens=11 * 12, max_same_blocks=9)
    assert scene.turn.stop_reason == "BUDGET_TOKENS"
    # Each of four steps may have asked when the budget was not used up yet.
    assert 12 <= scene.turn.requests <= 12 + 3
    assert scene.turn.tokens == 11 * scene.turn.requests == 11 * len(scene.of("model_answer"))


def test_an_interrupt_ends_every_step_and_what_it_started(repo: Repo, tmp_path: Path) -> None:
    root = project(repo)
    calls = {
        "one": [
            run("echo 1 > one"),
            run("echo $$ > $0.pid; setsid sleep 600 & sleep 601".replace("$0", f"{tmp_path}/1")),
        ],
        "two": [run("echo 2 > two"), run("echo $$ > $0.pid; sleep 602".replace("$0", f"{tmp_path}/2"))],
    }
    path = str(root / ".git" / "run" / "events.jsonl")

    def later() -> None:
        while not all((tmp_path / f"{one}.pid").exists() for one in (1, 2)):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=later, daemon=True).start()
    with pytest.raises(Ended):
        Scene(root, calls, log=EventLog(path))
    for one in (1, 2):
        assert not alive(int((tmp_path / f"{one}.pid").read_text()))
    events = read_events(path)
    assert (events[-1]["event"], events[-1]["stop_reason"]) == ("run_end", "INTERRUPTED")
    assert len(repo.git("worktree", "list").splitlines()) == 1 and not (root / "one").exists()

    calls = {step: own[:1] for step, own in calls.items()}
    scene = Scene(root, calls, log=EventLog(path, resumes=True), resumes=True)
    assert scene.turn.ok and ((root / "one").read_text(), (root / "two").read_text()) == ("1\n", "2\n")
    for step in calls:
        assert "It ended while run_command ran" in scene.model.heard[step][0][-1]["content"]


@pytest.mark.slow
@pytest.mark.parametrize("why", ["no commit", "submodule", "nowhere", "below", "sparse"])
def test_where_steps_cannot_work_side_by_side_they_run_one_after_the_other(
    repo: Repo, tmp_path: Path, why: str
) -> None:
    root = {"nowhere": tmp_path / "nowhere", "below": repo.root / "below"}.get(why, repo.root)
    root.mkdir(exist_ok=True)
    if why in ("below", "sparse"):
        repo.write("a")
        repo.add()
        repo.git("commit", "--quiet", "-m", "x")
        repo.git("config", "core.sparseCheckout", str(why == "sparse").lower())
    if why == "submodule":
        repo.write("a")
        repo.add()
        repo.git("commit", "--quiet", "-m", "x")
        repo.git("init", "--quiet", "sub")
        repo.git("-C", "sub", "commit", "--quiet", "--allow-empty", "-m", "x")
        repo.git("update-index", "--add", "--cacheinfo", f"160000,{repo.git('rev-parse', 'HEAD')},sub")
    calls = {"one": [run("echo 1 > one")], "two": [run("echo 2 > two")]}
    scene = Scene(root, calls)
    assert scene.turn.ok and (root / "two").read_text() == "2\n"
    [event] = scene.of("not_parallel")
    assert scene.turn.notes == [f"Steps ran one after the other: {event['problem']}."]
    assert not scene.of("step_checkout")


def test_what_is_installed_is_there_and_what_git_ignores_is_not_merged(repo: Repo) -> None:
    root = project(repo)
    repo.write("node_modules/tool/index.js", "tool\n")
    repo.write("venv/pyvenv.cfg", "")
    repo.write(".env", "KEY=1\n")
    repo.write("ignored/large", "x")
    repo.write(".gitignore", "ignored/\nnode_modules/\nvenv/\n.env\n__pycache__/\n")
    commit = "git -c user.name=x -c user.email=x@x commit -qam step"
    calls = {
        "reads": [run("cat node_modules/tool/index.js .env > read; ls -d venv ignored >> read; echo KEY=2 > .env")],
        "makes": [run("mkdir -p ignored/cache __pycache__; echo x > ignored/made; echo x > __pycache__/a.pyc")],
        "commits": [run(f"echo changed >> a.txt; {commit}; git status --short > status")],
    }
    head = repo.git("rev-parse", "HEAD")
    scene = Scene(root, calls)
    assert scene.turn.ok, scene.turn
    assert (root / "read").read_text() == "tool\nKEY=1\nvenv\n"
    assert (root / ".env").read_text() == "KEY=1\n" and (root / "a.txt").read_text().endswith("committed\nchanged\n")
    assert repo.git("rev-parse", "HEAD") == head
    assert not (root / "ignored/made").exists()
    assert os.listdir(root / "node_modules") == ["tool"]


def test_a_work_tree_that_cannot_be_made_ends_the_run_with_its_reason(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project(repo)
    path = str(root / ".git" / "run" / "events.jsonl")
    calls = {"one": [run("sleep 0.1; echo 1 > one")], "two": [run("echo 2 > two")]}
    fill = Checkouts.fill

    def full(self: Checkouts, tree: str, place: str) -> Checkout:
        if place.endswith("/2"):
            raise AhpError("the disk is full")
        return fill(self, tree, place)

    with monkeypatch.context() as patch:
        patch.setattr(Checkouts, "fill", full)
        scene = Scene(root, calls, log=EventLog(path))
    assert (scene.turn.stop_reason, scene.turn.answer) == (
        "CHECKOUT_ERROR",
        "a step's own work tree failed: the disk is full",
    )
    assert "Step one was broken off" in scene.turn.notes[0] and not (root / "one").exists()
    with monkeypatch.context() as patch:
        patch.setattr(trees, "OLDEST", (99, 0))
        scene = Scene(root, calls, log=EventLog(path, resumes=True), resumes=True)
    assert "cannot go on: git 99.0 or newer is needed" in scene.turn.answer
    scene = Scene(root, calls, log=EventLog(path, resumes=True), resumes=True)
    assert scene.turn.ok and (root / "two").read_text() == "2\n"


def test_a_bug_in_a_step_ends_the_run_and_every_step(repo: Repo) -> None:
    root = project(repo)

    class Broken(StepModel):
        def query(self, messages: list[Message], **more: Any) -> Answer:
            if messages[1]["content"].startswith("Step two"):
                raise RoleOrder("a bug")
            return super().query(messages, **more)

    calls = {"one": [run("sleep 60; echo late > late")], "two": []}
    log = EventLog()
    with pytest.raises(RoleOrder):
        Scene(root, calls, model=Broken([plan(*calls)], calls), log=log)
    assert [event["step"] for event in log.of("plan_step_end")] == ["one", "two"]
    assert not [event for event in log.of("tool_result") if event["step"] == "one"]
    assert len(repo.git("worktree", "list").splitlines()) == 1
