"""Command facts: run only when accepted, once for the same content, and a non-zero exit is data."""

from __future__ import annotations

import json
import os
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from ahp.facts import extract, outputs, reuse
from ahp.facts.absent import Absent
from ahp.system import clock

SAMPLES = Path(__file__).resolve().parent.parent / "data" / "reports"


def spec(script: str, **more: Any) -> dict[str, Any]:
    return {"run": ["sh", "-c", script], "parse": "lines", "timeout": 20.0, "directory": ".", **more}


def settings(command: dict[str, Any], trusted: bool = True) -> dict[str, Any]:
    return {"commands": {"lint": command}, "trusted": lambda given: trusted and given is command}


def test_lines_are_counted_and_the_exit_code_is_data(make_event: Any, gather: Any) -> None:
    command = spec("printf 'a\\n\\nb\\n'; exit 3")
    assert gather(make_event(), "lint.exit_code", "lint.count", settings=settings(command)) == {
        "lint.exit_code": 3,
        "lint.count": 2,
    }


def test_exit_alone(make_event: Any, gather: Any) -> None:
    for code, count in ((0, 0), (7, 1)):
        command = spec(f"exit {code}", parse="exit")
        facts = gather(make_event(), "lint.exit_code", "lint.count", settings=settings(command))
        assert facts == {"lint.exit_code": code, "lint.count": count}


def test_json_with_extracts(make_event: Any, gather: Any) -> None:
    output = json.dumps([{"code": "E1", "n": 2}, {"code": "F1", "n": 1.0}])
    extracts = {
        "errors": {"value": "count(f for f in output if f.code.startswith('E'))", "type": "int"},
        "whole": {"value": "output[1].n", "type": "int"},
        "share": {"value": "output[0].n / 4", "type": "float"},
        "any_f": {"value": "any(f.code == 'F1' for f in output)", "type": "bool"},
        "first": {"value": "output[0].code", "type": "str"},
        "wrong": {"value": "output[0].code", "type": "int"},
        "gone": {"value": "output[5].code", "type": "str"},
        "not_there": {"value": "output[0].nothing", "type": "str"},
        "texts": {"value": "output", "type": "list[str]"},
    }
    command = spec(f"echo '{output}'", parse="json", extract=extracts)
    facts = gather(make_event(), "lint.count", *[f"lint.{name}" for name in extracts], settings=settings(command))
    missing = facts.pop("missing")
    assert facts == {
        "lint.count": 2,
        "lint.errors": 1,
        "lint.whole": 1,
        "lint.share": 0.5,
        "lint.any_f": True,
        "lint.first": "E1",
    }
    assert {path: reason for path, (reason, _) in missing.items()} == {
        "lint.wrong": "the output has a str there, not int",
        "lint.gone": "the output does not hold it",
        "lint.not_there": "the output does not hold it",
        "lint.texts": "the output has no list of texts there",
    }


def test_an_extract_of_lines_keeps_texts(make_event: Any, gather: Any) -> None:
    command = spec("echo one", extract={"all": {"value": "output", "type": "list[str]"}})
    assert gather(make_event(), "lint.all", settings=settings(command)) == {"lint.all": ["one"]}


@pytest.mark.parametrize("expression", ["output +", "__import__('os')", "files.changed", "output.__class__"])
def test_an_extract_outside_the_language_is_refused(expression: str) -> None:
    with pytest.raises(extract.ExtractError, match="`"):
        extract.plan(expression, "json")


def test_output_that_is_not_json_leaves_the_exit_code(make_event: Any, gather: Any) -> None:
    command = spec("echo 'Traceback'; exit 2", parse="json")
    facts = gather(make_event(), "lint.exit_code", "lint.count", settings=settings(command))
    assert facts["lint.exit_code"] == 2
    assert facts["missing"]["lint.count"][0] == "its output is not JSON; it begins 'Traceback'"


def test_json_lines_and_nothing_printed() -> None:
    assert outputs.read(b'{"a": 1}\n{"a": 2}\n', 0, "json", "/r", ".").count == 2
    assert outputs.read(b"", 0, "json", "/r", ".").count == 0
    assert outputs.read(b"3", 0, "json", "/r", ".").count == 1
    with pytest.raises(Absent):
        outputs.read(b"[" * 100_000, 0, "json", "/r", ".")


def test_junit_from_a_command(make_event: Any, gather: Any) -> None:
    extracts = {"total": {"value": "output.total", "type": "int"}}
    command = spec(f"cat '{SAMPLES}/junit.xml'", parse="junit", extract=extracts)
    facts = gather(make_event(), "lint.count", "lint.findings", "lint.total", settings=settings(command))
    assert (facts["lint.count"], facts["lint.total"]) == (2, 5)
    assert facts["lint.findings"][0]["message"].startswith("test_app::test_bad: assert 2 == 1")


def test_sarif_places_its_findings() -> None:
    def result(uri: str, line: Any = 3, **more: Any) -> dict[str, Any]:
        place = {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": line}}}
        return {"ruleId": "R1", "message": {"text": "bad"}, "locations": [place], **more}

    silenced = result("x", suppressions=[{"kind": "inSource"}])
    log = {
        "runs": [
            {"results": [result("a%20b.py"), result("file:///r/src/c.py"), silenced]},
            {"results": [result("file:///elsewhere/d.py"), {"message": {"markdown": "*m*"}}, result("http://[", "no")]},
            {},
        ]
    }
    output = outputs.read(json.dumps(log).encode(), 1, "sarif", "/r", "sub")
    assert output.count == 5
    assert output.findings == [
        {"path": "sub/a b.py", "line": 3, "message": "R1: bad"},
        {"path": "src/c.py", "line": 3, "message": "R1: bad"},
        {"path": "/elsewhere/d.py", "line": 3, "message": "R1: bad"},
        {"path": "", "line": 0, "message": "*m*"},
        {"path": "sub/http:/[", "line": 0, "message": "R1: bad"},
    ]
    for bad in (b"[]", b'{"runs": 1}', b'{"runs": [{"results": [{"locations": 3}]}]}'):
        with pytest.raises(Absent, match="not SARIF"):
            outputs.read(bad, 0, "sarif", "/r", ".")


def test_nothing_runs_that_nobody_accepted(repo: Any, make_event: Any, gather: Any) -> None:
    command = spec("touch ran")
    for given in (settings(command, trusted=False), {"commands": {"lint": command}}):
        reason, remedy = gather(make_event(), "lint.count", settings=given)["missing"]["lint.count"]
        assert "nobody accepted the command of `lint` (sh -c touch ran)" in reason and remedy == "ahp trust"
    assert not (repo.root / "ran").exists()


def test_a_fact_the_policy_does_not_have_and_a_past_state(make_event: Any, gather: Any) -> None:
    assert gather(make_event(), "nix.count")["missing"]["nix.count"][0] == "the policy has no fact `nix`"
    missing = gather(make_event(mode="replay"), "lint.count", settings=settings(spec("exit 0")))["missing"]
    assert "past state" in missing["lint.count"][0]


def test_what_cannot_start_or_takes_too_long_is_missing(repo: Any, make_event: Any, gather: Any) -> None:
    command = {"run": ["no-such-program-here"], "parse": "exit", "timeout": 5.0}
    missing = gather(make_event(), "lint.exit_code", settings=settings(command))["missing"]
    assert "no-such-program-here" in missing["lint.exit_code"][0]
    command = spec("sleep 60 & sleep 60", timeout=0.2)
    began = time.monotonic()
    missing = gather(make_event(), "lint.exit_code", settings=settings(command))["missing"]
    assert missing["lint.exit_code"][0] == "sh did not finish within 0.2 s"
    assert time.monotonic() - began < 30


def test_the_time_of_the_whole_decision_bounds_it(make_event: Any, gather: Any) -> None:
    event = make_event()
    event.deadline = clock.monotonic() - 1
    missing = gather(event, "lint.count", settings=settings(spec("exit 0")))["missing"]
    assert "used up" in missing["lint.count"][0]


def test_it_runs_where_the_policy_says_without_gits_variables(repo: Any, make_event: Any, gather: Any) -> None:
    script = repo.write("sub dir/check", "#!/bin/sh\npwd\nenv | grep -c GIT_INDEX_FILE\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    command = {"run": ["./check"], "parse": "lines", "timeout": 9.0, "directory": "sub dir"}
    command["extract"] = {"all": {"value": "output", "type": "list[str]"}}
    event = make_event(env={"GIT_INDEX_FILE": "x"})
    facts = gather(event, "lint.all", settings=settings(command))
    assert facts["lint.all"] == [os.path.realpath(repo.root / "sub dir"), "0"]


def test_it_is_not_asked_when_nothing_it_looks_at_changed(repo: Any, make_event: Any, gather: Any) -> None:
    extracts = {"s": {"value": "output[0]", "type": "str"}}
    command = spec("touch ran; echo x", when_changed=["**/*.py"], extract=extracts)
    repo.write("a.txt", "x")
    repo.add()
    paths = ["lint.exit_code", "lint.count", "lint.findings", "lint.s"]
    facts = gather(make_event(), *paths, settings=settings(command, trusted=False))
    assert facts == {"lint.exit_code": 0, "lint.count": 0, "lint.findings": [], "lint.s": ""}
    repo.write("b.py", "x")
    repo.add()
    assert gather(make_event(), "lint.count", settings=settings(command))["lint.count"] == 1
    (repo.root / "ran").unlink()
    assert gather(make_event("session-start", view=None), "lint.count", settings=settings(command))["lint.count"] == 1


class TestReuse:
    """A result holds for the content it was made from and for nothing else."""

    @pytest.fixture
    def count(self, repo: Any, make_event: Any, gather: Any, tmp_path: Path) -> Any:
        """`count()` → how often the command has run so far, after asking for its fact once more."""
        log = tmp_path / "runs"
        log.write_text("")
        more: dict[str, Any] = {}

        def ask(**changed: Any) -> int:
            more.update(changed)
            command = spec(f"echo run >> '{log}'; printf 'caf\\351\\n'", **more)
            command["extract"] = {"first": {"value": "output[0]", "type": "str"}}
            facts = gather(make_event(), "lint.first", settings=settings(command))
            assert facts == {"lint.first": "caf\udce9"}
            return len(log.read_text().splitlines())

        return ask

    def test_the_same_content_is_looked_at_once(self, repo: Any, count: Any) -> None:
        repo.commit("first", **{"a.py": "1\n"})
        assert [count(), count()] == [1, 1]
        repo.write("a.py", "2\n")
        assert [count(), count()] == [2, 2]
        repo.add()
        assert count() == 3  # staged: told by its id from now on
        repo.write("new.txt", "x")
        assert [count(), count()] == [4, 4]
        (repo.root / "a.py").unlink()
        assert [count(), count()] == [5, 5]

    def test_only_the_files_it_looks_at_matter(self, repo: Any, count: Any) -> None:
        repo.write("a.py", "1\n")
        repo.add()
        assert count(when_changed=["*.py"]) == 1
        repo.write("b.txt", "x")
        assert count() == 1
        (repo.root / "c.py").symlink_to("a.py")
        assert [count(), count()] == [2, 2]

    def test_another_command_has_its_own_result(self, repo: Any, count: Any) -> None:
        assert count() == 1
        assert count(directory="./") == 2

    def test_a_damaged_store_is_no_store(self, repo: Any, count: Any) -> None:
        assert count() == 1
        (kept,) = (repo.root / ".git/ahp/cache/facts").iterdir()
        good = json.loads(kept.read_text())
        others = [json.dumps(other).encode() for other in ({**good, "code": "0"}, {"key": "x"})]
        for bad in (b"{", b"[]", b"\xff", *others):
            kept.write_bytes(bad)
            before = count()
            assert before > 1
        assert count() == before

    def test_where_nothing_can_be_written_it_runs_again(self, repo: Any, count: Any) -> None:
        (repo.root / ".git/ahp").write_text("a file where a folder should be")
        assert [count(), count()] == [1, 2]

    def test_a_loud_result_is_not_kept(self, count: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reuse, "_OUTPUT_LIMIT", 3)
        assert [count(), count()] == [1, 2]

    def test_a_file_too_large_to_read_is_told_by_size_and_time(
        self, repo: Any, count: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reuse, "_FILE_LIMIT", 3)
        repo.write("big", "x" * 10)
        assert [count(), count()] == [1, 1]

    def test_outside_a_repository_nothing_is_kept(self, make_event: Any) -> None:
        store = reuse.Store(make_event(repo=None, view=None), spec("exit 0"), "/bin/sh")
        store.save(0, b"")
        assert store.load() is None
