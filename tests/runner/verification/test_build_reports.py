"""ahp.runner.verification.command_checks: go and cargo for real where they are installed"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from ahp.runner.verification.command_checks import read_cargo, read_go
from tests.runner.verification.projects import ran, verify, write


def works(tool: str) -> bool:
    """Whether a program starts: rustup's stand-ins do not, without a home that has a toolchain."""
    if shutil.which(tool) is None:
        return False
    with tempfile.TemporaryDirectory() as empty:
        known = {**os.environ, "HOME": empty}
        return not subprocess.run([tool, "--version"], env=known, capture_output=True, check=False).returncode


GO = pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")
CARGO = pytest.mark.skipif(not works("cargo"), reason="cargo is not installed, or not without a home")
MODULE = {"go.mod": "module example.com/m\n\ngo 1.18\n", "sub/a.go": "package sub\n"}
PANIC = "std::thread::sleep(std::time::Duration::from_secs(2)); panic!()"


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GOCACHE", os.environ.get("GOCACHE", f"{tempfile.gettempdir()}/ahp-tests-go-cache"))
    write(tmp_path, **MODULE)
    return tmp_path


def of_go(*lines: str) -> str:
    head = 'package sub\n\nimport (\n\t"os"\n\t"testing"\n)\n\nvar _, _ = os.Exit, testing.Short'
    return "\n".join([head, *lines, ""])


@GO
def test_the_real_go_says_where(go: Path) -> None:
    write(go, **{"sub/a_test.go": of_go("func TestA(t *testing.T) {", '\tt.Fatalf("no")', "}")})
    found = verify(go)
    assert (found.type, found.details[0].place, found.details[0].error) == (
        "test_failure",
        "sub/a_test.go:10",
        "TestA: no",
    )
    write(go, **{"sub/a.go": "package sub\n\nvar x = y\n"})
    found = verify(go)
    assert (found.type, found.details[0].place) == ("collection_error", "sub/a.go:3")


@GO
def test_the_real_go_counts_what_it_chose_itself(go: Path) -> None:
    text = of_go(
        "const s = `\nfunc TestNone(t *testing.T) {}\n`",
        "func TestA(t *testing.T) {}",
        "func TestB(t *testing.T) { t.Skip() }",
    )
    write(go, **{"sub/a_test.go": text})
    write(go, **{"sub/b_test.go": f"//go:build integration\n\n{of_go('func TestC(t *testing.T) { t.Fail() }')}"})
    assert verify(go).summary == "1 test passed, 1 skipped"


@GO
@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        (["func TestMain(m *testing.M) { os.Exit(0) }", "func TestA(t *testing.T) { t.Fail() }"], "crash"),
        (["func init() { os.Exit(0) }", "func TestA(t *testing.T) { t.Fail() }"], "crash"),
        (["func helper() {}"], "no_tests"),
    ],
)
def test_the_real_go_whose_tests_did_not_all_run_is_not_green(go: Path, lines: list[str], kind: str) -> None:
    write(go, **{"sub/a_test.go": of_go(*lines)})
    assert verify(go).type == kind


def events(*told: tuple[str, str, str]) -> str:
    """Lines of test2json: (action, test, output)."""
    return "\n".join(
        json.dumps({"Action": what, "Package": "example.com/m/sub", **({"Test": test} if test else {}), "Output": said})
        for what, test, said in told
    )


@pytest.mark.parametrize(
    ("code", "out", "kind"),
    [
        (0, events(("pass", "TestA", ""), ("skip", "TestB", ""), ("pass", "", "")), "passed"),
        (0, events(("run", "TestA", ""), ("pass", "", "")), "crash"),
        (0, events(("output", "", "ok\n"), ("pass", "", "")), "crash"),
        (0, events(("output", "", "testing: warning: no tests to run\n"), ("pass", "", "")), "no_tests"),
        (0, events(("skip", "", "")), "no_tests"),
        (1, events(("pass", "TestA", ""), ("output", "", "panic\n"), ("fail", "", "")), "collection_error"),
        (1, events(("fail", "TestA", ""), ("fail", "", "")), "test_failure"),
        (1, events(("run", "TestA", ""), ("build-output", "", "./a.go:3:2: undefined: x\n")), "test_failure"),
        (2, "FAIL\tm/sub [build failed]\n./a.go:3:2: undefined: x\n", "collection_error"),
        (1, "go: cannot find main module", "crash"),
        (1, '{"Action": 3}\n{\n[]\n', "crash"),
    ],
)
def test_go_s_events_tell_what_did_not_run(tmp_path: Path, code: int, out: str, kind: str) -> None:
    assert read_go(ran(code, out, folder=str(tmp_path))).type == kind


def test_a_failure_of_go_says_its_place(tmp_path: Path) -> None:
    write(tmp_path, **{"sub/a_test.go": ""})
    stack = f"panic: x\n\t/usr/lib/go/src/testing/testing.go:1 +0x1\n\t{tmp_path}/sub/a_test.go:3 +0x2\n"
    out = events(
        ("output", "TestA/inner", "    a_test.go:12: got 1, want 2\n"),
        *(("fail", "TestA/inner", ""), ("fail", "TestA", "")),
        *(("output", "TestB", stack), ("fail", "TestB", "")),
        *(("output", "TestC", "?"), ("fail", "TestC", "")),
    )
    assert [(one.place, one.error) for one in read_go(ran(1, out, folder=str(tmp_path))).details] == [
        ("sub/a_test.go:12", "TestA/inner: got 1, want 2"),
        ("sub/a_test.go:3", "TestB: it panicked"),
        (".", "TestC: it failed"),
    ]


@pytest.fixture
def rust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from tests.conftest import OUTSIDE

    # The toolchain that rustup chose lies in the home of the person who runs the tests.
    home = OUTSIDE.get("HOME", "")
    monkeypatch.setenv("RUSTUP_HOME", OUTSIDE.get("RUSTUP_HOME", f"{home}/.rustup"))
    monkeypatch.setenv("CARGO_NET_OFFLINE", "true")
    write(tmp_path, **{"Cargo.toml": '[package]\nname = "small"\nversion = "0.1.0"\nedition = "2021"\n'})
    return tmp_path


@CARGO
def test_the_real_cargo_says_where(rust: Path) -> None:
    text = "pub fn one() -> i32 { 1 }\n#[test]\nfn good() {}\n#[test]\nfn bad() {\n"
    text += '    assert_eq!(one(), 2, "why not");\n}\n'
    write(rust, **{"src/lib.rs": text})
    found = verify(rust)
    assert (found.type, found.summary) == ("test_failure", "1 test failed, 1 passed")
    assert found.details[0].place == "src/lib.rs:6"
    assert found.details[0].error.startswith("bad: ") and "why not" in found.details[0].context
    write(rust, **{"src/lib.rs": 'pub fn one() -> i32 {\n    "x"\n}\n'})
    found = verify(rust)
    assert (found.type, found.summary) == ("collection_error", "it cannot be compiled: 1 error")
    assert found.details[0].place == "src/lib.rs:2" and found.details[0].error == "mismatched types"


@CARGO
def test_the_real_cargo_whose_tests_did_not_all_run_is_not_green(rust: Path) -> None:
    write(rust, **{"src/lib.rs": "pub fn one() {}\n"})
    assert verify(rust).type == "no_tests"
    write(rust, **{"src/lib.rs": "#[test]\nfn a() {}\n"})
    assert verify(rust).summary == "1 test passed"
    write(rust, **{"tests/it.rs": f"#[test]\nfn a() {{ std::process::exit(0) }}\n#[test]\nfn b() {{ {PANIC} }}\n"})
    assert verify(rust).type == "crash"


GREEN = "running 2 tests\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n"


@pytest.mark.parametrize(
    ("code", "out", "kind"),
    [
        (0, GREEN + GREEN, "passed"),
        (101, GREEN, "test_failure"),
        (0, GREEN.replace("2 passed", "1 passed"), "crash"),
        (0, f"{GREEN}running 3 tests\n", "crash"),
        (0, f"{GREEN}running 0 tests\n", "crash"),
        (0, GREEN.replace("2", "0"), "no_tests"),
        (0, "", "no_tests"),
        (101, "", "crash"),
    ],
)
def test_what_cargo_prints_is_held_against_what_it_began(code: int, out: str, kind: str) -> None:
    assert read_cargo(ran(code, out)).type == kind


def test_a_failure_of_rust_without_a_place_is_told() -> None:
    red = f"{GREEN}---- a stdout ----\nno place\n\nfailures:\n{GREEN.replace('2 passed; 0', '0 passed; 1')}"
    assert read_cargo(ran(101, red)).details[0].error == "a: it failed"
