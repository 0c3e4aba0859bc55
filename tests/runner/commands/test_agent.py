"""ahp.runner.commands.agent, ahp.runner.run.runs and ahp.runner.run.live"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ahp.runner.commands.agent import command
from ahp.runner.run import live, runs
from ahp.runner.run.events import EventLog
from ahp.system.errors import AhpError
from tests.conftest import Repo
from tests.runner.models.server import Server, chat, says

SCRIPT = {
    "task": "the task",
    "answers": [
        "no plan",
        json.dumps({"title": "goal", "steps": [{"id": "a", "description": "look"}]}),
        '{"tool": "look", "args": {}}',
        '{"control": "step_done"}',
        '{"control": "step_done"}',
        "It is\nseen.\x1b[2J",
    ],
    "tools": [{"name": "look", "kind": "read", "results": ["seen"]}],
}


@pytest.fixture
def project(repo: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    repo.commit("first", **{".ahp/hooks.yaml": "version: 1\n", "script.json": json.dumps(SCRIPT)})
    monkeypatch.chdir(repo.root)
    return Path(repo.root)


def ahp(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments, standalone_mode=False)


def test_a_script_is_run_listed_shown_and_replayed(project: Path) -> None:
    ran = ahp("run", "--script", "script.json", "--live")
    assert ran.exception is None
    assert ran.return_value == 0
    assert ran.stdout == "It is\nseen.\ufffd[2J\n"
    for said in (
        "plan     refused: ",
        "plan     goal: a",
        "step     a: look",
        "  tool     look {}",
        "guard    not shown",
    ):
        assert said in ran.stderr
    listed = ahp("list").stdout
    assert "DONE" in listed
    assert "the task" in listed
    [one] = json.loads(ahp("list", "--format", "json").stdout)
    assert (one["stop_reason"], one["task"]) == ("DONE", "the task")
    shown = ahp("show", one["id"][:10]).stdout
    assert "step     a done: as planned" in shown
    assert shown.endswith("It is\nseen.\ufffd[2J\n")
    events = [json.loads(line) for line in ahp("show", "--format", "json").stdout.splitlines()]
    assert [events[0]["event"], events[-1]["event"]] == ["run_start", "run_end"]
    for speed in ("0", "1000000"):
        assert "step     a done" in ahp("show", "--speed", speed).stdout
    assert (project / ".git" / "ahp" / "runs" / one["id"] / "events.jsonl").is_file()


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_with_its_own_script(project: Path) -> None:
    assert ahp("run", "--script", "script.json").return_value == 0
    [run] = (project / ".git" / "ahp" / "runs").iterdir()
    events = run / "events.jsonl"
    lines = events.read_bytes().splitlines(keepends=True)
    (project / "script.json").unlink()
    for cut in range(1, len(lines)):
        events.write_bytes(b"".join(lines[:cut]) + lines[cut][:9])
        ran = ahp("resume", "--format", "json")
        assert ran.exception is None
        told = json.loads(ran.stdout.splitlines()[-1])
        # Of the two last answers the first is only intercepted, so a run killed behind it may have had both.
        assert told["stop_reason"] in ("DONE", "MODEL_ERROR"), cut
        if told["stop_reason"] == "MODEL_ERROR":
            (project / "more.yaml").write_text("answers: [It is seen.]")
            assert ahp("resume", run.name[:12], "--script", "more.yaml", "--live").stdout == "It is seen.\n"
    assert "this run is done" in str(ahp("resume").exception)


def test_a_blocked_run_goes_on_when_its_limit_is_raised(project: Path) -> None:
    (project / ".ahp" / "agent.yaml").write_text("max_iterations: 1\nenable_planning: false\n")
    (project / "s.yaml").write_text('answers: [\'{"tool": "look"}\']')
    ran = ahp("run", "x", "--script", "s.yaml")
    assert ran.return_value == 1
    assert "go on:         ahp agent resume 2" in ran.stderr
    assert ahp("resume").return_value == 1
    (project / ".ahp" / "agent.yaml").write_text("max_iterations: 9\n")  # whether it plans stays as it was
    (project / "s.yaml").write_text("answers: [hello]")
    again = ahp("resume", "--script", "s.yaml", "--live")
    assert (again.return_value, again.stdout) == (0, "hello\n")
    assert "task     taken up again" in again.stderr
    assert "DONE" in ahp("list").stdout


def shown_events() -> list[str]:
    return ahp("show", "--format", "json").stdout.splitlines()


def test_the_task_may_be_given_and_planning_switched_off(project: Path) -> None:
    (project / "s.yaml").write_text("answers: [hello]")
    ran = ahp("run", "say hello", "--script", "s.yaml", "--no-plan", "--format", "json")
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert (lines[-1]["event"], lines[-1]["answer"]) == ("turn", "hello")
    assert [line["event"] for line in lines[:-1]] == [json.loads(line)["event"] for line in shown_events()]
    assert ran.stderr == ""


def test_a_folder_inside_the_project_stands_for_the_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / ".ahp" / "agent.yaml").write_text("enable_planning: false\n")
    (project / "s.yaml").write_text("answers: [hello]")
    (project / "folder").mkdir()
    monkeypatch.chdir(project / "folder")
    assert ahp("run", "x", "--script", "../s.yaml").stdout == "hello\n"
    assert "DONE" in ahp("list").stdout


def test_outside_a_repository_runs_lie_beside_the_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text("answers: [hello]")
    assert ahp("run", "x", "--script", "s.yaml", "--no-plan").return_value == 0
    assert len(list((tmp_path / ".ahp" / "runs").iterdir())) == 1


def test_a_run_that_is_not_done_says_why_and_where_to_look(project: Path) -> None:
    (project / "s.yaml").write_text('answers: ["{\\"steps\\": []}", "{\\"steps\\": []}"]')
    ran = ahp("run", "x", "--script", "s.yaml")
    assert ran.return_value == 1
    assert "not done (PLAN_INVALID)" in ran.stderr
    assert "ahp agent show 2" in ran.stderr


def test_a_claim_that_nothing_covers_is_exit_code_1_and_the_run_goes_on_from_there(project: Path) -> None:
    plan = {"steps": [{"id": "s1", "description": "mend add", "tools_expected": ["write_file"]}]}
    said = [json.dumps(plan), '{"control": "step_done"}', '{"control": "step_done"}', "I fixed add and all tests pass."]
    (project / "s.yaml").write_text(json.dumps({"task": "mend add in calc.py", "answers": said}))
    ran = ahp("run", "--script", "s.yaml", "--format", "json")
    turn = json.loads(ran.stdout.splitlines()[-1])
    assert (ran.return_value, turn["stop_reason"], turn["changed"]) == (1, "NO_EVIDENCE", [])
    talk = ["I'll now update calc.py.", "I'll now update calc.py."]
    (project / "s.yaml").write_text(json.dumps({"task": "update calc.py", "answers": talk}))
    ran = ahp("run", "--script", "s.yaml", "--no-plan")
    assert (ran.return_value, ran.stdout) == (1, "")
    assert "not done (NO_EVIDENCE)" in ran.stderr and "changed: nothing" in ran.stderr
    typed = {"tool": "final_answer", "args": {"text": "It was right.", "changed": None}}
    (project / "s.yaml").write_text(json.dumps({"answers": [json.dumps(typed)]}))
    run_id = ran.stderr.rpartition("ahp agent resume ")[2].split()[0]
    again = ahp("resume", run_id, "--script", "s.yaml")
    assert (again.return_value, again.stdout) == (0, "It was right.\n")


def test_a_gate_that_cannot_judge_is_exit_code_2(project: Path) -> None:
    Repo(project).git("update-ref", "-d", "HEAD")  # nobody has committed a policy, so the file alone judges
    (project / ".ahp" / "hooks.yaml").write_text("rules: [")
    assert ahp("run", "--script", "script.json").return_value == 2


def test_a_blocked_run_says_how_a_person_lets_it_pass(project: Path) -> None:
    policy = "version: 1\nrules:\n  unread: {at: pre-tool-use, block: \"tool.name == 'read'\", message: not now}\n"
    (project / ".ahp" / "hooks.yaml").write_text(policy)
    (project / "s.yaml").write_text(json.dumps({**SCRIPT, "answers": ['{"tool": "look"}'] * 3}))
    ran = ahp("run", "--script", "s.yaml", "--no-plan")
    assert ran.return_value == 1
    assert "let it pass:   ahp respond " in ran.stderr


def test_wrong_usage_is_said(project: Path) -> None:
    (project / "s.yaml").write_text("answers: [a]")
    assert "what is the task" in str(ahp("run", "--script", "s.yaml").exception)
    assert "no script" in str(ahp("run", "x", "--script", "none").exception)
    assert "no runs yet" in str(ahp("show").exception)
    assert ahp("list").stdout == ""


def test_a_run_is_found_by_the_beginning_of_its_id(project: Path) -> None:
    for run_id in ("20260101-1", "20260101-2", "20260101-22", "20270101-1"):
        log = EventLog(runs.events_path(str(project), run_id))
        log.close()
    assert runs.find(str(project), "") == "20270101-1"
    assert runs.find(str(project), "2027") == "20270101-1"
    assert runs.find(str(project), "20260101-2") == "20260101-2"
    with pytest.raises(AhpError, match="several runs"):
        runs.find(str(project), "2026")
    with pytest.raises(AhpError, match="no run '3'"):
        runs.find(str(project), "3")
    assert runs.summary(str(project), "20260101-1")["stop_reason"] == ""
    assert "unfinished" in ahp("list").stdout


def test_an_unreadable_run_does_not_hide_the_others(project: Path) -> None:
    (project / "s.yaml").write_text("answers: [hello]")
    assert ahp("run", "x", "--script", "s.yaml", "--no-plan").return_value == 0
    broken = Path(runs.events_path(str(project), "20200101-1"))
    broken.parent.mkdir()
    broken.write_bytes(b"no event\n{}\n")
    listed = ahp("list").stdout.splitlines()
    assert ["UNREADABLE" in line for line in listed] == [True, False]
    [found] = [one for one in json.loads(ahp("list", "--format", "json").stdout) if one["stop_reason"] == "UNREADABLE"]
    assert "events.jsonl:1: not an event" in found["task"]


def test_ids_sort_by_time() -> None:
    assert runs.new_id()[:9].endswith("-")


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"event": "verdict", "trigger": "pre-tool-use", "decision": "allow", "signals": []}, None),
        (
            {
                "event": "verdict",
                "trigger": "pre-tool-use",
                "decision": "deny",
                "signals": [{"context": {"rule": "a"}}, {"context": {}}],
            },
            "gate     pre-tool-use: deny (a, ?)",
        ),
        ({"event": "message"}, None),
        ({"event": "stuttering", "tool": "x\ny"}, "breaker  E_STUTTERING: x y"),
        ({"event": "repeated_call", "tool": "x", "times": 3}, "breaker  x gave the same result 3 times"),
        (
            {"event": "trimmed", "pairs": 1, "cuts": [400], "why": "full"},
            "context  1 oldest exchanges dropped, a long part cut to 400 characters: full",
        ),
        ({"event": "tool_call", "step": "a", "tool": "x", "args": {}}, "  tool     x {}"),
        ({"event": "model_retry", "problem": "busy", "seconds": 2.0}, "model    busy; asked again in 2 s"),
        ({"event": "plan_step_blocked", "step_id": "b"}, "step     b blocked"),
    ],
)
def test_events_in_a_person_s_words(event: dict[str, Any], said: str | None) -> None:
    assert live.line(event) == said


@pytest.fixture
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AHP_MODEL", "AHP_BASE_URL", "AHP_MODEL_API", "AHP_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.slow
def test_a_model_is_run_with_ahps_own_tools_and_goes_on_without_naming_it(project: Path, no_keys: None) -> None:
    write = {"name": "write_file", "arguments": json.dumps({"path": "new", "content": "made\n"})}
    show = {"name": "display", "arguments": '{"text": "half done\\u001b[2J"}'}
    plays = [
        says({"data": [{"id": "tiny"}]}),
        says(chat(None, "tool_calls", tool_calls=[{"type": "function", "function": write}])),
        says(chat("", "tool_calls", tool_calls=[{"type": "function", "function": show}])),
        says({"error": {"message": "no such model"}}, 404),
        says(chat("It is made.")),
        says(chat("It is made, as I said.")),
    ]
    with Server(plays) as server:
        ran = ahp("run", "make it", "--base-url", f"{server.address}/v1", "--no-plan")
        assert (ran.exception, ran.return_value) == (None, 1)
        assert "half done\ufffd[2J" in ran.stderr and "MODEL_ERROR" in ran.stderr
        again = ahp("resume")
        assert (again.exception, again.return_value, again.stdout) == (None, 0, "It is made, as I said.\n")
    assert (project / "new").read_text() == "made\n"
    assert [request.body["model"] for request in server.requests[1:]] == ["tiny"] * 5
    offered = [tool["function"]["name"] for tool in server.requests[1].body["tools"]]
    assert {"read_file", "edit", "run_command"} <= set(offered)
    [start] = [event for event in _events(project) if event["event"] == "run_start"]
    assert (start["model"], start["endpoint"]) == ("tiny", {"api": "openai", "base_url": f"{server.address}/v1"})


def _events(project: Path) -> list[dict[str, Any]]:
    [run] = (project / ".git" / "ahp" / "runs").iterdir()
    return [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]


def test_another_model_takes_over_from_a_script(project: Path, no_keys: None) -> None:
    (project / "script.json").write_text(json.dumps({"task": "t", "answers": [{"raise": "gone"}]}))
    assert ahp("run", "--script", "script.json", "--no-plan").return_value == 1
    with Server([says(chat("Done by a model."))]) as server:
        taken = ahp("resume", "--model", "m", "--base-url", f"{server.address}/v1")
    assert taken.stdout == "Done by a model.\n"


def test_without_a_model_the_command_says_what_is_missing(project: Path, no_keys: None) -> None:
    for arguments, said in (
        (["run", "the task"], "which model? Name it with --model or AHP_MODEL, its server with --base-url"),
        (["run", "the task", "--model", "gpt-5"], "no key for https://api.openai.com/v1"),
        (["run"], "what is the task"),
        (["run", "t", "--script", "script.json", "--model", "m"], "give one of them"),
        (["resume", "--script", "script.json", "--api", "openai"], "give one of them"),
    ):
        if arguments[0] == "resume":
            ahp("run", "--script", "script.json")
        assert said in str(ahp(*arguments).exception)


@pytest.mark.slow
def test_steps_run_side_by_side_with_jobs(project: Path) -> None:
    steps = {name: ['{"tool": "look", "args": {}}', '{"control": "step_done"}'] for name in ("a", "b")}
    plan = {"title": "goal", "steps": [{"id": name, "description": "look"} for name in steps]}
    script = {**SCRIPT, "answers": [json.dumps(plan), "seen"], "steps": steps}
    (project / "script.json").write_text(json.dumps(script))
    ran = ahp("run", "--script", "script.json", "--jobs", "2", "--live")
    assert (ran.return_value, ran.stdout) == (0, "seen\n")
    assert "  a: tool     look {}" in ran.stderr and "  b: tool     look {}" in ran.stderr
