"""Checks of Node projects: vitest, jest, or the script of `npm test`; and eslint."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ahp.policy.presets import PRESETS
from ahp.runner.verification import outcomes, tools
from ahp.runner.verification.check import PLUGINS, REPORT, SCRATCH, Check, Ran
from ahp.runner.verification.outcomes import Failure, Record
from ahp.runner.verification.project import Project, joined, tops, upper_first
from ahp.runner.verification.result import DETAILS, VerificationResult, counted, detail
from ahp.system import jsontext, process

_TEST_FILE = re.compile(r"(?:^|/)(?:__tests__/.*|[^/]*\.(?:test|spec))\.[cm]?[jt]sx?$")
_ESLINT_FILE = re.compile(r"^(?:eslint\.config\.[cm]?[jt]s|\.eslintrc(?:\.(?:c?js|json|ya?ml))?)$")
_NODE_TESTS = Path(__file__).with_name("node_tests.cjs")
_UNSET = "no test specified"  # in the script that `npm init` writes
_LOCKS = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn"}


def tests(project: Project, env: Mapping[str, str]) -> list[Check]:
    """The tests of every Node project in `project`."""
    tools_of = {folder: _tested_by(project, folder) for folder in project.folders_with("package.json")}
    folders = tops([folder for folder, tool in tools_of.items() if tool is not None])
    return [_test_check(project, folder, tools_of[folder] or "", env) for folder in folders]


def manifest(project: Project, folder: str) -> dict[str, Any]:
    """A folder's package.json, {} where it cannot be read."""
    try:
        read = jsontext.decode(project.text(joined(folder, "package.json")).lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _tested_by(project: Project, folder: str) -> str | None:
    """How a package is tested: "vitest", "jest", "npm-test"; None when it is not."""
    known = manifest(project, folder)
    script = _mapping(known, "scripts").get("test")
    script = script if isinstance(script, str) and _UNSET not in script else ""
    for tool in ("vitest", "jest"):
        settings = any(project.has(joined(folder, f"{tool}.config.{end}")) for end in ("js", "ts", "mjs", "mts", "cjs"))
        depends = any(tool in _mapping(known, kind) for kind in ("devDependencies", "dependencies"))
        if settings or (depends and (not script or re.search(rf"\b{tool}\b", script))):
            return tool
    return "npm-test" if script else None


def _mapping(known: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = known.get(key)
    return value if isinstance(value, dict) else {}


def _test_check(project: Project, folder: str, kind: str, env: Mapping[str, str]) -> Check:
    if kind == "npm-test":
        return _npm_test(project, folder, env)
    program = tools.node_tool(project, folder, kind)
    argv = (
        ("run", "--reporter=json", f"--outputFile={REPORT}", "--no-color", "--testNamePattern=.")
        if kind == "vitest"
        else (
            *("--ci", "--json", f"--outputFile={REPORT}", "--no-color", f"--cacheDirectory={SCRATCH}"),
            *("--testNamePattern=", "--testResultsProcessor="),
        )
    )
    return Check.by(
        *(program, kind, "tests", folder, argv),
        missing=f"{kind} is not installed",
        suggestion=f"{_manager(project, folder)} install",
        read=partial(_read_jest, what=kind),
        files=[path for path in project.below(folder) if _TEST_FILE.search(path)],
        toolchain=partial(tools.node_versions, project, folder, program, env),
    )


def _npm_test(project: Project, folder: str, env: Mapping[str, str]) -> Check:
    manager = _manager(project, folder)
    program = process.find(manager, dict(env))
    return Check.by(
        *(program, "npm-test", "tests", folder, ["test"]),
        missing=f"{manager} is not installed",
        suggestion=f"install {manager}",
        read=partial(_read_script, what=f"{manager} test"),
        env={"npm_config_script_shell": f"{PLUGINS}/{_NODE_TESTS.name}"},
        toolchain=partial(tools.node_versions, project, folder, program, env),
        plugin=_NODE_TESTS,
    )


def _read_script(ran: Ran, what: str) -> VerificationResult:
    """What `node --test` or mocha told our reporter, else the exit code. Tests can write into its record, too."""
    try:
        lines: list[Any] = [*map(jsontext.decode, (ran.record or b"").decode("utf-8", "replace").splitlines())]
        told = [line for line in lines if "failed" in line]
        begun = sum(line.get("begun", 0) for line in lines)
        if not begun:
            return outcomes.by_exit_code(ran, what, "package.json")
        failed = [one for line in told for one in line["failed"]]
        record = Record(
            passed=sum(line["passed"] for line in told),
            skipped=sum(line["skipped"] for line in told),
            # Of a file that cannot be loaded what was printed tells more.
            failed=[
                Failure(f"{file}::{name}", file, line, said.partition("\n")[0], ran.said if whole else said)
                for file, line, name, said, whole in failed
            ],
            not_loaded=sum(one[-1] for one in failed),
            not_run=[f"{name} ({outcomes.relative(file, ran)})" for line in told for file, name in line["not_run"]],
        )
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return outcomes.crash(ran, what)
    if not (failed or ran.code) and len(told) < begun:
        return outcomes.crash(ran, what, f"{what} ended with 0, and its tests did not come to their end")
    return outcomes.of_record(ran, what, record)


def _manager(project: Project, folder: str) -> str:
    lock = next((name for one in tools.upwards(folder) for name in _LOCKS if project.has(joined(one, name))), "")
    return _LOCKS.get(lock, "npm")


def _read_jest(ran: Ran, what: str) -> VerificationResult:
    """The JSON report of jest, which vitest writes too."""
    try:
        report: Any = jsontext.decode((ran.report or b"").decode("utf-8", "replace"))
        suites = report["testResults"]
        cases = [(suite, one) for suite in suites for one in suite["assertionResults"] if one["status"] == "failed"]
        red = [suite["name"] for suite, _ in cases]
        broken = [suite for suite in suites if suite["status"] == "failed" and suite["name"] not in red]
        record = Record(
            passed=report["numPassedTests"],
            skipped=report.get("numPendingTests", 0),
            failed=[
                *(Failure("it cannot be loaded", one["name"], 0, "", str(one.get("message"))) for one in broken),
                *(_failure(str(suite["name"]), case) for suite, case in cases),
            ],
            failures=report["numFailedTests"] + len(broken),
            not_loaded=len(broken),
            files=[str(suite["name"]) for suite in suites],
        )
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        none = ran.code and re.search(r"No tests? (?:files )?found", ran.said)
        return (
            outcomes.of_record(replace(ran, code=0), what, Record(passed=0, skipped=0, failed=[]))
            if none
            else outcomes.crash(ran, what)
        )
    return outcomes.of_record(ran if suites else replace(ran, code=0), what, record)


def _failure(file: str, case: Any) -> Failure:
    said = "\n".join(str(message) for message in case.get("failureMessages") or ())
    name = " > ".join([*map(str, case.get("ancestorTitles") or ()), str(case.get("title") or "")])
    at = re.search(re.escape(file) + r":(\d{1,9})", said)  # of any name, also one with spaces
    line = int(at[1]) if at else case["location"].get("line") if isinstance(case.get("location"), dict) else None
    first = next((one for one in said.split("\n") if one.strip()), "")
    return Failure(name, file, line if isinstance(line, int) else 0, first, said)


def eslint(project: Project, env: Mapping[str, str]) -> list[Check]:
    folders = set(project.folders_where(_ESLINT_FILE.match))
    folders |= {one for one in project.folders_with("package.json") if "eslintConfig" in manifest(project, one)}
    found = [_eslint_check(project, folder, env) for folder in tops(upper_first(folders))]
    return [one for one in found if one.argv or _names_eslint(project, one.directory)]


def _names_eslint(project: Project, folder: str) -> bool:
    """Whether a package.json speaks of eslint, or there is none: settings alone can be a leftover."""
    manifests = [path for one in tools.upwards(folder) if project.has(path := joined(one, "package.json"))]
    return not manifests or any("eslint" in project.text(path) for path in manifests)


def _eslint_check(project: Project, folder: str, env: Mapping[str, str]) -> Check:
    program = tools.node_tool(project, folder, "eslint")
    return Check.by(
        *(program, "eslint", "lint", folder, PRESETS["eslint"]["run"][3:]),  # without `npx --no-install eslint`
        missing="eslint is configured, and not installed",
        suggestion=f"{_manager(project, folder)} install",
        read=partial(_read_eslint, project=project),
        toolchain=partial(tools.node_versions, project, folder, program, env),
    )


def _read_eslint(ran: Ran, project: Project) -> VerificationResult:
    """What eslint found, but for files that git ignores, such as a report of coverage: nobody commits them."""
    try:
        files: Any = jsontext.decode(ran.out.decode("utf-8", "replace"))
        told = [
            (outcomes.relative(str(file["filePath"]), ran), message)
            for file in files
            for message in file["messages"]
            if message["severity"] == 2
        ]
        ignored = project.ignored({path for path, _ in told})
        found = [(path, message) for path, message in told if path not in ignored]
        details = [
            detail(
                path,
                line if isinstance(line := message.get("line"), int) else None,
                f"{message['ruleId']}: {message['message']}" if message.get("ruleId") else str(message["message"]),
            )
            for path, message in found[:DETAILS]
        ]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return outcomes.crash(ran, "eslint")
    if found:
        fix = "eslint --fix fixes some of them." if any("fix" in message for _, message in found) else ""
        fix = fix or outcomes.start(details)
        return VerificationResult("lint_failure", f"eslint found {counted(len(found), 'error')}", details, fix)
    explained = not ran.code or (ran.code == 1 and told)
    return VerificationResult("passed", "eslint found nothing") if explained else outcomes.crash(ran, "eslint")
