"""ahp.runner.verification.node_checks: npm test for real, vitest, jest and eslint too where they are installed"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from ahp.runner.verification.node_checks import _read_eslint, _read_jest, _read_script
from ahp.runner.verification.project import Project
from tests.runner.verification.projects import checks, program, ran, verify, write

NPM = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")


def linked(root: Path, tool: str) -> Path:
    """A project with the packages of `make test-tools`; skips the test where they are not installed."""
    program = shutil.which(tool)
    if program is None:
        pytest.skip(f"{tool} is not installed; make test-tools installs it")
    modules = Path(program).parent.parent
    if modules.name != "node_modules":
        pytest.skip(f"{program} is in no node_modules")
    (root / "node_modules").symlink_to(modules)
    return root


@pytest.mark.slow
@NPM
def test_npm_test_with_another_script_is_judged_by_its_exit_code(tmp_path: Path) -> None:
    write(tmp_path, **{"package.json": '{"scripts": {"test": "echo it is \\"$WHAT\\"; exit ${CODE:-0}"}}'})
    assert (verify(tmp_path).type, verify(tmp_path).summary) == ("passed", "npm test passed")
    write(tmp_path, **{"package.json": '{"scripts": {"test": "printf \\"\\\\033[31mbroken\\\\n\\"; exit 3"}}'})
    found = verify(tmp_path)
    assert (found.type, found.summary) == ("test_failure", "npm test ended with 3")
    assert found.details[0].file == "package.json" and "broken" in found.details[0].context
    assert "\x1b" not in found.details[0].context


@NPM
def test_a_script_that_calls_what_is_not_installed_is_told(tmp_path: Path) -> None:
    write(tmp_path, **{"package.json": '{"scripts": {"test": "no-such-program-here --all"}}'})
    found = verify(tmp_path)
    assert (found.red, found.type) == (False, "tool_missing")


NODE = "const { test, describe, it } = require('node:test');\nconst assert = require('node:assert');\n"
WAIT = "const wait = () => new Promise((done) => setTimeout(done, 300));\n"


def scripts(root: Path, *, script: str = "node --test", **files: str) -> Path:
    write(root, **{"package.json": json.dumps({"scripts": {"test": script, "unit": "X=1 node --test"}}), **files})
    return root


@pytest.mark.slow
@NPM
@pytest.mark.parametrize("script", ["node --test", "npm run -s unit && echo", "node --test --test-reporter=tap"])
def test_node_tells_which_tests_of_a_script_ran(tmp_path: Path, script: str) -> None:
    text = (
        f"{NODE}test('one', () => {{}});\ntest.todo('later');\ntest('no', {{skip: true}}, () => {{}});\n"
        "// test('two', () => {});\n/* test('three', () => {}); */ const s = \"test('four', 1)\";\n"
        "describe('d', () => {\n  it('bad', () => { assert.equal(1, Number(process.env.ONE ?? 1)); });\n});\n"
    )
    found = verify(scripts(tmp_path, script=script, **{"a.test.js": text}))
    assert (found.type, found.summary, found.cautions) == ("passed", "2 tests passed, 2 skipped", ())
    red = verify(scripts(tmp_path, script=script, **{"a.test.js": text.replace("?? 1", "?? 2")}))
    assert (red.type, red.summary) == ("test_failure", "1 test failed, 1 passed")
    assert (red.details[0].place, red.details[0].error) == (
        "a.test.js:9",
        "bad: AssertionError [ERR_ASSERTION]: 1 == 2",
    )


@pytest.mark.slow
@NPM
@pytest.mark.parametrize(
    "files",
    [
        {
            "a.test.js": f"{NODE}test('one', () => {{}});test('two', () => process.exit(0));"
            "test('three', () => {throw 1})"
        },
        {"a.test.js": f"{NODE}test('one', () => {{throw 1}});process.exit(0)"},
        {
            "a.test.js": f"{NODE}{WAIT}test('one', wait);test('two', () => process.exit(0));"
            "test('three', () => {throw 1})"
        },
        {"a.test.js": f"{NODE}test('one', () => {{}})", "b.test.js": f"{NODE}test('two', () => process.exit(0))"},
        {"a.test.js": f"{NODE}require('./lib');test('one', () => {{throw 1}})", "lib.js": "process.exit(0)"},
        {
            "a.test.mjs": f"import {{test}} from 'node:test';{WAIT}await test('one', wait);await wait();"
            "process.exit(0);\ntest('two', () => {throw 1})"
        },
        {"a.js": "1"},
    ],
)
def test_a_script_of_node_whose_tests_did_not_all_run_is_not_green(tmp_path: Path, files: dict[str, str]) -> None:
    found = verify(scripts(tmp_path, **files))
    assert found.type == ("no_tests" if "a.js" in files else "crash")


@pytest.mark.slow
@NPM
def test_tests_of_a_script_find_their_environment_as_it_was(tmp_path: Path) -> None:
    names = "['NODE_OPTIONS', 'npm_config_script_shell']"
    text = f"test('env', () => {{ for (const name of {names}) assert(!process.env[name]); }});"
    assert verify(scripts(tmp_path, **{"a.test.js": NODE + text})).summary == "1 test passed"


@NPM
def test_a_file_of_node_that_cannot_be_loaded_is_not_collected(tmp_path: Path) -> None:
    found = verify(scripts(tmp_path, **{"a.test.js": f"require('nothing-like-it');{NODE}test('one', () => {{}})"}))
    assert (found.type, found.details[0].file) == ("collection_error", "a.test.js")
    assert "nothing-like-it" in found.details[0].context


SUITE = {"name": "/p/src/a.test.js", "status": "failed", "message": "x"}
CASE = {
    "status": "failed",
    "ancestorTitles": ["sum"],
    "title": "adds",
    "failureMessages": ["Error: expected 3\n    at Object.<anonymous> (/p/src/a.test.js:7:5)"],
}


def jest(*cases: object, passed: int = 1, failed: int = 1, **suite: object) -> str:
    suites = [{**SUITE, "assertionResults": list(cases), **suite}]
    return json.dumps({"numPassedTests": passed, "numFailedTests": failed, "testResults": suites})


def test_a_report_of_jest_or_vitest_says_where() -> None:
    found = _read_jest(ran(1, report=jest(CASE)), "jest")
    assert (found.type, found.summary) == ("test_failure", "1 test failed, 1 passed")
    assert found.details[0].place == "src/a.test.js:7"
    assert found.details[0].error == "sum > adds: Error: expected 3"
    at = _read_jest(ran(1, report=jest({**CASE, "failureMessages": [], "location": {"line": 3}})), "jest").details[0]
    assert (at.place, at.error) == ("src/a.test.js:3", "sum > adds:")


def test_a_file_that_cannot_be_loaded_is_not_collected() -> None:
    found = _read_jest(ran(1, report=jest(failed=0, message="SyntaxError: no")), "vitest")
    assert found.type == "collection_error"
    assert found.details[0].place == "src/a.test.js" and "SyntaxError" in found.details[0].error


@pytest.mark.parametrize(
    ("code", "report", "kind"),
    [
        (0, jest(CASE), "test_failure"),
        (0, jest(passed=3, failed=0, status="passed"), "passed"),
        (1, jest(passed=3, failed=0, status="passed"), "test_failure"),
        (0, '{"numPassedTests": 0, "numFailedTests": 0, "testResults": []}', "no_tests"),
        (0, None, "crash"),
        (0, "[]", "crash"),
        (0, '{"numPassedTests": "x", "testResults": []}', "crash"),
        (1, "[" * 100_000, "crash"),
    ],
)
def test_a_report_is_held_against_the_exit_code(code: int, report: str | None, kind: str) -> None:
    assert _read_jest(ran(code, report=report), "jest").type == kind


def test_a_runner_that_finds_no_tests_says_so() -> None:
    assert _read_jest(ran(1, err="No tests found, exiting with code 1"), "jest").type == "no_tests"


ESLINT = {
    "filePath": "/p/a.js",
    "messages": [{"severity": 2, "line": 4, "ruleId": "no-undef", "message": "x", "fix": {}}],
}


def test_errors_of_eslint_are_red_and_warnings_are_not(tmp_path: Path) -> None:
    project = Project(str(tmp_path))
    found = _read_eslint(ran(1, json.dumps([ESLINT])), project)
    assert (found.type, found.summary) == ("lint_failure", "eslint found 1 error")
    assert (found.details[0].place, found.details[0].error) == ("a.js:4", "no-undef: x")
    assert "--fix" in found.suggestion
    bare = {"filePath": "/p/a.js", "messages": [{"severity": 2, "ruleId": None, "message": "Parsing error"}]}
    assert _read_eslint(ran(1, json.dumps([bare])), project).details[0].place == "a.js"
    warned = {"filePath": "/p/a.js", "messages": [{"severity": 1, "message": "x"}]}
    assert _read_eslint(ran(0, json.dumps([warned])), project).type == "passed"


@NPM
def test_a_script_called_mocha_that_another_script_names_is_no_call_of_mocha(tmp_path: Path) -> None:
    manifest = json.dumps({"scripts": {"test": "all lint mocha", "mocha": "true"}})
    write(tmp_path, **{"package.json": manifest})
    program(tmp_path / "node_modules/.bin/all", '[ "$*" = "lint mocha" ]')
    assert verify(tmp_path).type == "passed"


def test_what_eslint_finds_in_a_file_that_git_ignores_is_nobodys(repo: Any) -> None:
    write(repo.root, **{".gitignore": "coverage\n", "coverage/sorter.js": "", "sub/coverage/a.js": ""})
    for folder in (".", "sub"):
        project = Project(os.path.join(repo.root, folder))
        report = [{**ESLINT, "filePath": os.path.join(project.root, one)} for one in ("coverage/a.js", "b.js")]
        both, one = (ran(1, json.dumps(told), folder=project.root) for told in (report, report[:1]))
        assert [found.place for found in _read_eslint(both, project).details] == ["b.js:4"]
        assert _read_eslint(one, project).type == "passed"


@pytest.mark.parametrize(("code", "out"), [(2, "Oops"), (1, "[]"), (0, "{}"), (0, "[3]"), (0, "[" * 100_000)])
def test_an_output_of_eslint_that_is_none_is_no_pass(tmp_path: Path, code: int, out: str) -> None:
    assert _read_eslint(ran(code, out), Project(str(tmp_path))).type == ("crash" if out != "{}" else "passed")


@pytest.mark.tools
@pytest.mark.parametrize("tool", ["vitest", "jest"])
def test_the_real_runner_says_where(tmp_path: Path, tool: str) -> None:
    manifest = json.dumps({"devDependencies": {tool: "*"}})
    head = 'import { expect, test } from "vitest";\n' if tool == "vitest" else "\n"
    write(linked(tmp_path, tool), **{"package.json": manifest, "a.test.js": f"{head}test('good', () => {{}});\n"})
    assert verify(tmp_path).summary == "1 test passed"
    write(tmp_path, **{"sub dir/b.test.js": f"{head}test('bad', () => {{\n  expect(1).toBe(2);\n}});\n"})
    found = verify(tmp_path)
    assert (found.type, found.summary) == ("test_failure", "1 test failed, 1 passed")
    assert found.details[0].place == "sub dir/b.test.js:3" and found.details[0].error.startswith("bad: ")
    write(tmp_path, **{"sub dir/b.test.js": "this is (no program"})
    assert verify(tmp_path).type == "collection_error"
    assert sorted(checks(tmp_path)[tool].files) == ["a.test.js", "sub dir/b.test.js"]


@pytest.mark.tools
def test_the_real_mocha_tells_which_tests_ran(tmp_path: Path) -> None:
    text = (
        "it('one', () => {});\nit.skip('no', () => {});\nit('two', () => { if (process.env.RED) throw Error('x'); });\n"
    )
    scripts(linked(tmp_path, "mocha"), script="mocha --reporter spec --recursive && echo", **{"test/a.js": text})
    assert verify(tmp_path).summary == "2 tests passed, 1 skipped"
    write(tmp_path, **{"test/a.js": text.replace("process.env.RED", "true")})
    found = verify(tmp_path)
    assert (found.type, found.details[0].place, found.details[0].error) == (
        "test_failure",
        "test/a.js:3",
        "two: Error: x",
    )
    write(tmp_path, **{"test/a.js": "it('one', () => process.exit(0));\n" + text})
    assert verify(tmp_path).type == "crash"
    write(tmp_path, **{"test/a.js": "process.exit(0);\n" + text})
    assert verify(tmp_path).type == "crash"


@pytest.mark.tools
def test_the_real_eslint_says_where_and_mends_nothing(tmp_path: Path) -> None:
    config = 'export default [{rules: {"no-var": "error", "no-undef": "error"}}];\n'
    text = "var a = 1;\nb = a;\n"
    write(linked(tmp_path, "eslint"), **{"eslint.config.mjs": config, "sub dir/a.js": text})
    found = verify(tmp_path)
    assert (found.type, found.summary) == ("lint_failure", "eslint found 2 errors")
    assert [one.place for one in found.details] == ["sub dir/a.js:1", "sub dir/a.js:2"]
    assert (tmp_path / "sub dir/a.js").read_text() == text
    write(tmp_path, **{"eslint.config.mjs": "export default nothing;\n"})
    assert verify(tmp_path).type == "crash"


@pytest.mark.parametrize("record", ["no JSON", "7", '{"begun": 1}\n{"failed": [1]}', "[" * 100_000])
def test_a_record_that_tests_have_written_to_is_no_pass(record: str) -> None:
    assert _read_script(ran(0, record=record), "npm test").type == "crash"
