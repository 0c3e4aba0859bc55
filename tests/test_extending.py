"""What a package of somebody else adds to each of ahp's tables, installed as pip would: docs/extending.md."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import textwrap
import venv
from pathlib import Path

import pytest

pytestmark = pytest.mark.no_cover  # it runs ahp in processes of another environment

PROJECT = Path(__file__).resolve().parent.parent
POINTS = """\
    [ahp.commands]
    hello = acme.commands:hello
    log count = acme.commands:count
    check = acme.commands:hello

    [ahp.facts]
    acme = acme.facts

    [ahp.checks]
    acme-check = acme.checks:find

    [ahp.models]
    acme = acme.models:ACME

    [ahp.hosts]
    robo = acme.robo

    [ahp.packs]
    acme-rules = acme

    [ahp.actions]
    shout = acme.shout:Shout

    [ahp.places]
    elsewhere = acme.places:run
"""
FILES = {
    "acme/__init__.py": "",
    "acme/commands.py": '''\
        import click

        @click.command()
        def hello() -> None:
            """Greet whoever asks."""
            click.echo("hello from acme")

        @click.command()
        def count() -> None:
            """Count something in the log."""
            click.echo("counted by acme")
        ''',
    "acme/facts.py": """\
        from ahp.facts.registry import Namespace, fact

        NAMESPACE = Namespace(
            source="acme's register of owners",
            schema={"owner": fact("str", "who owns the repository"), "secret": fact("str", "not shown")},
            private=("secret",),
        )

        def gather(event, fields, settings):
            return {"owner": "ann", "secret": "s3cret"}
        """,
    "acme/shout.py": '''\
        from typing import Literal

        from ahp.policy.model_types import Keys, Text

        class Shout(Keys):
            """Makes a text loud."""

            type: Literal["shout"]
            """`shout`"""
            target: Text
            """What changes."""
            mark: Text = "!"
            """What is put behind it."""

            @staticmethod
            def change(original, keys):
                if not isinstance(original, str):
                    raise ValueError("it is no text")
                first, _, rest = original.partition("\\n")
                return original if first.isupper() else first.upper() + keys["mark"] + "\\n" + rest
        ''',
    "acme/places.py": """\
        from ahp.system.process import Result

        def run(argv, *, cwd=None, env=None, timeout=0.0, **more):
            return Result(3, ("not run here: " + " ".join(argv)).encode(), b"")
        """,
    "acme/checks.py": """\
        from functools import partial

        from ahp.runner.verification.check import Check
        from ahp.runner.verification.outcomes import by_exit_code

        def find(project, env):
            read = partial(by_exit_code, what="acme's check", file="acme.txt")
            argv = ("grep", "-q", "fine", "acme.txt")
            return [Check("acme-check", "tests", ".", argv, read)] if project.has("acme.txt") else []
        """,
    "acme/models.py": """\
        from ahp.runner.models.endpoint import Api
        from ahp.runner.models.model import Answer

        ACME = Api(model="acme.models:Model", address="http://127.0.0.1:9", key="ACME_KEY")

        class Model:
            def __init__(self, name, to, key, reply_format):
                self.name, self.endpoint, self._key = name, to, key

            def query(self, messages, *, max_tokens, timeout_s, want=None):
                return Answer(f"{self.name} has the key {self._key}", usd=0.0)
        """,
    "acme/robo.py": """\
        def hook(arguments):
            print("robo was asked:", *arguments)
            return 1

        def install(user):
            return ["robo: in place"]
        """,
    "acme/acme-rules.yaml": """\
        version: 1
        rules:
          owned: {at: pre-commit, block: "acme.owner != 'ann'"}
          size:
            at: pre-commit
            prompt: files.changed_count > 1
            message: "{files.changed_count} files for {acme.owner}"
        """,
}


class Environment:
    """A virtual environment that has ahp, what ahp needs, and acme."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, symlinks=True, with_pip=False)
        self.python = folder / "bin" / "python"
        version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        self.site = folder / "lib" / version / "site-packages"
        for place in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
            for entry in os.scandir(place):
                if not entry.name.startswith(("__editable__", "_ahp", "ahp", "hooks")) and not entry.name.endswith(
                    ".pth"
                ):
                    (self.site / entry.name).symlink_to(entry.path)
        (self.site / "ahp").symlink_to(PROJECT / "ahp")
        (self.site / "hooks").symlink_to(PROJECT / "hooks")
        self.add("acme", POINTS, FILES)

    def add(self, name: str, points: str, files: dict[str, str]) -> None:
        """Writes a package as an installer lays it out."""
        info = self.site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(textwrap.dedent(points))
        for path, text in files.items():
            (self.site / path).parent.mkdir(exist_ok=True)
            (self.site / path).write_text(textwrap.dedent(text))

    def ahp(self, *arguments: str, cwd: Path, before: str = "") -> subprocess.CompletedProcess[str]:
        """Runs the command line, after the statement `before`."""
        code = f"{before}\nfrom ahp.cli.start import main; main()"
        return subprocess.run(
            [self.python, "-c", code, *arguments],
            cwd=cwd,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return Environment(tmp_path_factory.mktemp("acme") / "venv")


def git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / ".ahp").mkdir()
    return tmp_path


def test_a_package_adds_commands_and_cannot_replace_one_of_ahp(environment: Environment, project: Path) -> None:
    assert environment.ahp("hello", cwd=project).stdout == "hello from acme\n"
    assert environment.ahp("log", "count", cwd=project).stdout == "counted by acme\n"
    helped = environment.ahp("--help", cwd=project).stdout
    assert "Added by other packages:" in helped
    assert "Greet whoever asks." in helped
    assert "count" in environment.ahp("log", "--help", cwd=project).stdout
    assert "hello from acme" not in environment.ahp("check", "pre-commit", cwd=project).stdout


def test_a_package_adds_a_host(environment: Environment, project: Path) -> None:
    asked = environment.ahp("hook", "robo", "a", "b", cwd=project)
    assert (asked.stdout, asked.returncode) == ("robo was asked: a b\n", 1)
    assert environment.ahp("install", "robo", cwd=project).stdout == "robo: in place\n"
    assert "robo" not in environment.ahp("uninstall", "robo", cwd=project).stdout  # it cannot be taken away


@pytest.mark.slow
def test_a_package_adds_a_check(environment: Environment, project: Path) -> None:
    (project / "acme.txt").write_text("fine\n")
    assert "acme-check" in environment.ahp("verify", "--list", cwd=project).stdout
    passed = environment.ahp("verify", "acme-check", cwd=project)
    assert (passed.returncode, "acme's check passed" in passed.stdout) == (0, True), passed.stderr
    (project / "acme.txt").write_text("broken\n")
    failed = environment.ahp("verify", cwd=project)
    assert (failed.returncode, "acme's check ended with 1" in failed.stdout) == (1, True), failed.stderr
    assert "acme-check" in environment.ahp("verify", "other", cwd=project).stderr


def test_a_package_adds_an_interface_of_models(
    environment: Environment, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACME_KEY", "k-1")
    ran = environment.ahp("agent", "run", "--api", "acme", "--model", "tiny", "--no-plan", "what?", cwd=project)
    assert (ran.stdout, ran.returncode) == ("tiny has the key k-1\n", 0), ran.stderr
    unknown = environment.ahp("agent", "run", "--api", "other", "what?", cwd=project)
    assert "'openai', 'anthropic', 'acme'" in unknown.stderr


@pytest.mark.slow
def test_a_package_adds_facts_and_a_pack_that_judge_commits(environment: Environment, project: Path) -> None:
    (project / ".ahp" / "hooks.yaml").write_text("version: 1\nextends: [acme-rules]\n")
    installed = environment.ahp("install", "git", cwd=project)
    assert installed.returncode == 0, installed.stderr
    git(project, "add", ".")
    quiet = git(project, "commit", "-m", "begin")
    assert (quiet.returncode, quiet.stderr) == (0, "")
    (project / "a").write_text("a")
    (project / "b").write_text("b")
    git(project, "add", ".")
    warned = git(project, "commit", "-m", "two")
    assert warned.returncode == 0
    assert "2 files for 'ann'" in warned.stderr
    # The compiled policy names the package's file: with another text of it, it is compiled anew.
    facts = environment.site / "acme" / "facts.py"
    before = facts.read_text()
    facts.write_text(before.replace('"ann"', '"bob"'))
    try:
        (project / "a").write_text("other")
        git(project, "add", ".")
        refused = git(project, "commit", "-m", "three")
    finally:
        facts.write_text(before)
    assert refused.returncode == 1
    assert "refused by owned" in refused.stderr
    shown = environment.ahp("facts", "pre-commit", cwd=project).stdout
    assert "acme's register of owners" in shown
    assert "s3cret" not in shown


SHOUTING = """\
version: 1
facts:
  tool: {run: [/nowhere/tool], parse: lines, place: elsewhere}
rules:
  loud:
    at: commit-msg
    control: not commit.subject.endswith('!')
    action: {type: shout, target: commit.message, mark: "!"}
  ran: {at: pre-commit, block: tool_check.exit_code == 3 and tool_check.count == 1, message: it ran elsewhere}
""".replace("tool:", "tool_check:", 1)


@pytest.mark.slow
def test_a_package_adds_an_action_and_a_place(environment: Environment, project: Path) -> None:
    (project / ".ahp" / "hooks.yaml").write_text(SHOUTING.partition("  ran:")[0])
    (project / "a").write_text("a")
    assert environment.ahp("install", "git", cwd=project).returncode == 0
    git(project, "add", ".")
    done = git(project, "commit", "-m", "quiet words")
    assert done.returncode == 0, done.stderr
    assert git(project, "log", "-1", "--format=%s").stdout == "QUIET WORDS!\n"
    assert '"Shout"' in environment.ahp("policy", "schema", cwd=project).stdout
    (project / ".ahp" / "hooks.yaml").write_text(SHOUTING)
    checked = environment.ahp("check", "pre-commit", cwd=project)
    assert "ahp trust" in checked.stdout + checked.stderr  # a place is no way past a person's word
    trusting = "from ahp.policy import trust; trust.checker = lambda event: lambda command: True"
    ran = environment.ahp("check", "pre-commit", cwd=project, before=trusting)
    assert "it ran elsewhere" in ran.stdout + ran.stderr


def test_a_package_that_cannot_be_imported_is_named(environment: Environment, project: Path) -> None:
    environment.add("broken", "[ahp.facts]\nbroken = broken.nowhere\n", {"broken/__init__.py": ""})
    try:
        (project / ".ahp" / "hooks.yaml").write_text("version: 1\nextends: [core]\n")
        linted = environment.ahp("policy", "lint", cwd=project)
    finally:
        (environment.site / "broken-1.0.dist-info" / "entry_points.txt").unlink()
    assert linted.returncode == 2
    assert "broken.nowhere, which a package adds to ahp.facts, cannot be imported" in linted.stderr
