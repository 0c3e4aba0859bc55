"""ahp.runner.verification.compiled_checks: cargo, go and make for real where they are installed"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from ahp.runner.verification.compiled_checks import _read_cargo, _read_go
from tests.runner.verification.projects import checks, ran, verify, write

GO = pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")


def works(program: str) -> bool:
    """Whether a program starts: rustup's stand-ins do not, without a home that has a toolchain."""
    if shutil.which(program) is None:
        return False
    with tempfile.TemporaryDirectory() as empty:
        known = {**os.environ, "HOME": empty}
        return not subprocess.run([program, "--version"], env=known, capture_output=True, check=False).returncode


CARGO = pytest.mark.skipif(not works("cargo"), reason="cargo is not installed, or not without a home")
MAKE = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
LIB = """\
pub fn one() -> i32 { 1 }

#[cfg(test)]
mod tests {
    #[test]
    fn good() { assert_eq!(super::one(), 1); }
    #[test]
    fn bad() {
        assert_eq!(super::one(), 2, "why not");
    }
}
"""


@pytest.fixture
def rust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from tests.conftest import OUTSIDE

    # The toolchain that rustup chose lies in the home of the person who runs the tests.
    home = OUTSIDE.get("HOME", "")
    monkeypatch.setenv("RUSTUP_HOME", OUTSIDE.get("RUSTUP_HOME", f"{home}/.rustup"))
    monkeypatch.setenv("CARGO_NET_OFFLINE", "true")
    manifest = '[package]\nname = "small"\nversion = "0.1.0"\nedition = "2021"\n'
    write(tmp_path, **{"Cargo.toml": manifest, "src/lib.rs": LIB})
    return tmp_path


@CARGO
def test_cargo_says_where_a_test_failed_and_what_cannot_be_compiled(rust: Path) -> None:
    found = verify(rust)
    assert (found.type, found.summary) == ("test_failure", "1 test failed, 1 passed")
    assert found.details[0].place == "src/lib.rs:9"
    assert found.details[0].error.startswith("tests::bad: ") and "why not" in found.details[0].context
    write(rust, **{"src/lib.rs": 'pub fn one() -> i32 {\n    "x"\n}\n'})
    found = verify(rust)
    assert (found.type, found.summary) == ("collection_error", "it cannot be compiled: 1 error")
    assert found.details[0].place == "src/lib.rs:2" and "mismatched types" in found.details[0].error


def test_what_cargo_prints_is_held_against_its_exit_code() -> None:
    green = "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
    assert _read_cargo(ran(0, green + green)).summary == "4 tests passed"
    skipped = green.replace("0 ignored", "1 ignored")
    assert _read_cargo(ran(0, green + skipped)).summary == "4 tests passed, 1 skipped"
    assert _read_cargo(ran(101, green)).type == "test_failure"
    assert _read_cargo(ran(0, green.replace("2 passed", "0 passed"))).type == "no_tests"
    assert _read_cargo(ran(101, "", "error: no such manifest")).type == "crash"
    assert _read_cargo(ran(0, "")).type == "crash"
    red = "test a ... FAILED\n---- a stdout ----\nno place\n\nfailures:\ntest result: FAILED. 0 passed; 1 failed;\n"
    assert _read_cargo(ran(101, red)).details[0].error == "a failed"


def test_a_test_that_ends_its_program_with_0_does_not_pass() -> None:
    whole = "running 2 tests\ntest result: ok. 2 passed; 0 failed; 0 ignored;\n"
    assert _read_cargo(ran(0, whole)).ok
    found = _read_cargo(ran(0, '{"reason": "compiler-artifact"}\n' + whole + "running 3 tests\n"))
    assert (found.type, found.details[0].context.splitlines()[0]) == ("crash", "running 2 tests")
    assert found.summary == "1 program of tests ended before the tests did, with exit code 0"


def test_a_line_that_imitates_the_compiler_is_read_as_far_as_it_has_its_form() -> None:
    lines = ['{"reason": "compiler-message", "message": 3}', "{", '{"reason": "compiler-message", "message": {}}', "[]"]
    assert _read_cargo(ran(101, "\n".join(lines))).type == "crash"
    spans = {"level": "error", "message": "m", "spans": [3]}
    found = _read_cargo(ran(101, json.dumps({"reason": "compiler-message", "message": spans})))
    assert found.type == "collection_error" and found.details[0].line is None


def events(*told: tuple[str, str, str]) -> str:
    """Lines of test2json: (action, test, output)."""
    return "\n".join(
        json.dumps(
            {"Action": action, "Package": "example.com/m/sub", **({"Test": test} if test else {}), "Output": output}
        )
        for action, test, output in told
    )


def test_go_s_events_say_where(tmp_path: Path) -> None:
    write(tmp_path, **{"sub/a_test.go": ""})
    out = events(
        ("run", "TestA", ""),
        ("output", "TestA/inner", "    a_test.go:12: got 1, want 2\n"),
        ("fail", "TestA/inner", ""),
        ("fail", "TestA", ""),
        ("pass", "TestB", ""),
        ("skip", "TestC", ""),
        ("fail", "", ""),
    )
    found = _read_go(ran(1, out, folder=str(tmp_path)))
    assert (found.type, found.summary) == ("test_failure", "1 test failed, 1 passed")
    assert found.details[0].place == "sub/a_test.go:12"
    assert found.details[0].error == "TestA/inner: got 1, want 2"


def test_tests_of_go_that_are_skipped_are_counted() -> None:
    out = events(("pass", "TestA", ""), ("skip", "TestB", ""), ("pass", "", ""))
    assert _read_go(ran(0, out)).summary == "1 test passed, 1 skipped"


def test_where_a_test_of_go_says_no_place_its_stack_or_folder_does(tmp_path: Path) -> None:
    write(tmp_path, **{"sub/a_test.go": ""})
    stack = f"panic: x\n\t/usr/lib/go/src/testing/testing.go:1 +0x1\n\t{tmp_path}/sub/a_test.go:3 +0x2\n"
    out = events(("output", "TestA", stack), ("fail", "TestA", ""), ("output", "TestB", "?"), ("fail", "TestB", ""))
    found = _read_go(ran(1, out, folder=str(tmp_path)))
    assert [(one.place, one.error) for one in found.details] == [
        ("sub/a_test.go:3", "TestA failed"),
        ("sub", "TestB failed"),
    ]


def test_a_package_of_go_that_fails_behind_passing_tests_is_red() -> None:
    out = events(("output", "TestA", "--- PASS: TestA--- FAIL: TestA\n"), ("pass", "TestA", ""), ("fail", "", ""))
    found = _read_go(ran(1, out))
    assert (found.type, found.summary) == ("test_failure", "1 test failed, 1 passed")
    assert found.details[0].error == "a package failed"


@pytest.mark.parametrize(
    ("code", "out", "kind"),
    [
        (0, events(("pass", "TestA", ""), ("pass", "", "")), "passed"),
        (1, events(("pass", "TestA", ""), ("pass", "", "")), "test_failure"),
        (0, events(("skip", "", "")), "no_tests"),
        (1, events(("fail", "TestA", ""), ("fail", "", "")), "test_failure"),
        (1, events(("build-output", "", "./a.go:3:2: undefined: x\n"), ("fail", "", "")), "collection_error"),
        (1, events(("output", "", "panic in init\n"), ("fail", "", "")), "collection_error"),
        (2, "FAIL\tm/sub [build failed]\n", "collection_error"),
        (2, events(("pass", "TestA", "")) + "\nFAIL\tm/sub [setup failed]\n", "collection_error"),
        (1, "go: cannot find main module", "crash"),
        (0, "", "crash"),
    ],
)
def test_go_s_events_are_held_against_the_exit_code(code: int, out: str, kind: str) -> None:
    found = _read_go(ran(code, out))
    assert found.type == kind
    if "undefined" in out:
        assert (found.details[0].place, found.details[0].error) == ("a.go:3", "undefined: x")


@GO
def test_the_real_go_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOCACHE", str(tmp_path / "cache"))
    write(tmp_path, **{"m/go.mod": "module example.com/m\n\ngo 1.18\n", "m/sub/a.go": "package sub\n"})
    test = 'package sub\n\nimport "testing"\n\nfunc TestA(t *testing.T) {\n\tt.Fatalf("no")\n}\n'
    write(tmp_path, **{"m/sub/a_test.go": test})
    assert verify(tmp_path / "m").details[0].place == "sub/a_test.go:6"
    write(tmp_path, **{"m/sub/a.go": "package sub\n\nvar x = y\n"})
    assert verify(tmp_path / "m").type == "collection_error"


def test_of_go_the_packages_of_chosen_tests_are_run(tmp_path: Path) -> None:
    write(tmp_path, **{"go.mod": "module m", "a_test.go": "", "sub/b_test.go": "", "sub/c_test.go": ""})
    os.environ["PATH"] = f"{tmp_path}/bin:{os.environ['PATH']}"
    program = tmp_path / "bin/go"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    narrowed = checks(tmp_path)["go-test"].narrowed
    assert narrowed is not None
    assert narrowed(["a_test.go", "sub/b_test.go", "sub/c_test.go"])[3:] == ("./", "./sub")


@MAKE
def test_make_is_judged_by_its_exit_code(tmp_path: Path) -> None:
    write(tmp_path, Makefile="check:\n\t@echo looked at it; exit $(CODE)\n")
    assert verify(tmp_path).summary == "make check passed"
    write(tmp_path, Makefile="check:\n\t@echo looked at it; exit 3\n")
    found = verify(tmp_path)
    assert (found.type, found.summary) == ("test_failure", "make check ended with 2")
    assert found.details[0].file == "Makefile" and "looked at it" in found.details[0].context
