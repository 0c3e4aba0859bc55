"""Checks of other hook managers as rules; the tools themselves are compared in tests/test_imported_checks.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from ahp.cli.main import run
from ahp.conditions import regexes
from ahp.hosts import importing
from ahp.policy import layers
from ahp.policy.sources import TextSource
from ahp.system.errors import AhpError
from tests.conftest import Repo

PRE_COMMIT = """\
exclude: ^vendor/
repos:
  - repo: local
    hooks:
      - {id: format, name: format it, entry: tidy --all, language: system, args: [-q], types_or: [toml, jinja]}
      - {id: whole, name: whole, entry: make check, language: system, pass_filenames: false, files: '\\.c$'}
      - {id: tests, name: tests, entry: pytest -q, language: system, pass_filenames: false, stages: [push]}
      - {id: always, name: a, entry: ./a.sh, language: script, pass_filenames: false, always_run: true}
      - {id: no-env, name: no env, language: fail, entry: never commit .env, files: '(^|/)\\.env$'}
      - id: TODO!
        name: no to-do
        language: pygrep
        entry: 'fixme{}'
        args: [-i]
        exclude: |
          (?x)^(
              docs/.*|  # not [these]
              a\\ b[ #]\\.txt
          )$
      - {id: words, name: words, entry: lint-words, language: system, stages: [commit-msg]}
      - {id: runs, name: runs, entry: x, language: node, types: [executable, text], exclude_types: [binary, toml]}
      - {id: box, name: box, entry: "a/b:latest", language: docker_image, types: [shell]}
      - {id: link, name: link, entry: x, language: system, types: [symlink]}
      - {id: old, name: old, entry: x, language: system, files: 'a(?=b)'}
      - {id: format, name: second, entry: other, language: system}
  - repo: meta
    hooks: [{id: identity}]
"""
LEFTHOOK = """\
pre-commit:
  commands:
    style: {glob: "*.{js,ts}", exclude: ["gen/*"], run: "eslint --fix {staged_files}", stage_fixed: true, root: web/}
    build: {run: make, env: {CC: a b}, fail_text: it does not build}
    all: {run: "check {all_files}"}
    some: {run: x, skip: merge}
  scripts: {hi.sh: {runner: sh}}
pre-push:
  jobs: [{name: tests, run: make test}]
commit-msg: {commands: {words: {run: "x {1}"}}}
remotes: [{git_url: x}]
"""


def taken(manager: str, repo: Repo) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
    """The rules and facts that the import writes, as a policy that loads, and what is left out."""
    found = importing.read(manager, str(repo.root))
    text = found.text(manager)
    layers.load(TextSource(text))
    made = yaml.safe_load(text)
    return made["rules"], made.get("facts", {}), found.left


def test_checks_of_pre_commit_become_rules(repo: Repo) -> None:
    repo.write(".pre-commit-config.yaml", PRE_COMMIT)
    rules, facts, left = taken("pre-commit", repo)
    here = 'not matches(p, "^vendor/")'
    assert rules["format"] == {
        "at": "pre-commit",
        "each": "p in files.changed",
        "control": rules["format"]["control"],
        "message": "format it",
        "action": {"type": "run", "command": ["tidy", "--all", "-q"], "timeout": "300s"},
    }
    assert rules["format"]["control"].startswith(f'{here} and glob(p, ["') and '"*.toml"' in rules["format"]["control"]
    assert rules["whole"]["action"]["command"] == ["sh", "-c", "make check", "make"]
    assert rules["no-env"]["block"] == f'{here} and matches(p, "(^|/)\\\\.env$") and p not in files.deleted'
    assert rules["todo"]["block"].endswith(
        ' and not matches(l.path, "^(docs/.*|a\\\\ b[ #]\\\\.txt)$") and matches(l.text, "(?i)fixme{}")'
    )
    assert rules["format-2"]["control"] == here
    told = "any(c.path == p and c.mode == '100755' for c in files.changes) and p not in files.binary"
    assert rules["runs"]["control"].startswith(f'{here} and {told} and not (p in files.binary or glob(p, ["')
    assert rules["tests"] == {
        "at": "pre-push",
        "block": "check_tests.exit_code != 0",
        "on_missing": "prompt",
        "message": "tests fails",
    }
    assert facts["check_tests"]["run"] == ["pytest", "-q"] and facts["check_always"]["run"] == ["./a.sh"]
    assert left == {
        "words": "it runs at commit-msg",
        "box": "it runs in a container",
        "link": "no name tells whether a file is symlink",
        "old": left["old"],
        "identity": "it is about pre-commit's own settings",
    }
    assert left["old"].startswith("its pattern is none that ahp knows: ")


def test_what_a_hook_of_another_repository_runs_is_read_there(repo: Repo, tmp_path: Path) -> None:
    other = Repo(tmp_path / "other")
    other.root.mkdir()
    other.git("init", "-q")
    hooks = [{"id": "tidy", "name": "tidy", "entry": "tidy", "language": "python", "types": ["python"]}]
    hooks += [{"id": "shell", "name": "shell", "entry": "x.sh", "language": "script"}]
    other.commit("hooks", **{".pre-commit-hooks.yaml": json.dumps(hooks)})
    other.git("tag", "v1")
    for revision in ("v1", other.head()):
        wanted = [{"id": "tidy", "args": ["-q"]}, {"id": "shell"}, {"id": "none"}]
        config = {"repos": [{"repo": f"file://{other.root}", "rev": revision, "hooks": wanted}]}
        repo.write(".pre-commit-config.yaml", json.dumps(config))
        found = importing.read("pre-commit", str(repo.root))
        assert found.rules["tidy"]["action"]["command"] == ["tidy", "-q"]
        where = f"file://{other.root} {revision}"
        assert found.programs == {"tidy": where}
        assert found.left == {"shell": f"what it runs lies in {where}", "none": f"not in {where}"}
    repo.write(".pre-commit-config.yaml", json.dumps({"repos": [{**config["repos"][0], "rev": "v2"}]}))
    left = importing.read("pre-commit", str(repo.root)).left
    assert left.keys() == {"tidy", "shell", "none"} and "v2: there is no such tag" in left["tidy"]


def test_jobs_of_lefthook_become_rules(repo: Repo) -> None:
    repo.write("lefthook.yml", LEFTHOOK)
    rules, facts, left = taken("lefthook", repo)
    assert rules["style"] == {
        "at": "pre-commit",
        "each": "p in files.changed",
        "control": 'glob(p, ["*.js", "*.ts"]) and not matches(p, "^(gen/.*)$")',
        "message": "style",
        "action": {
            "type": "run",
            "command": ["sh", "-c", 'eslint --fix "$@"', "style"],
            "timeout": "300s",
            "directory": "web",
            "stage": True,
        },
    }
    assert rules["build"]["message"] == "it does not build" and rules["build"]["control"] == "len(p) > 0"
    assert rules["build"]["action"]["command"] == ["env", "CC=a b", "sh", "-c", "make", "build"]
    assert facts["check_tests"]["run"] == ["sh", "-c", "make test", "tests"]
    assert left == {
        "remotes": "what other files bring stays there",
        "hi.sh": "it is a script of lefthook's own folder",
        "all": "`{all_files}` has no counterpart",
        "some": "`skip` has no counterpart",
        "words": "it runs at commit-msg",
    }


@pytest.mark.parametrize(
    ("glob", "yes", "no"),
    [
        ("src/*.js", ["src/a.js", "src/b/a.js"], ["a.js", "x/src/a.js"]),
        ("**/*.py", ["a/b.py"], ["b.py"]),
        ("Make*", ["Makefile", "Make/x"], ["a/Makefile"]),
        ("a?.{c,h}", ["ab.c", "ab.h"], ["abc.c", "d/ab.c"]),
    ],
)
def test_globs_of_lefthook_mean_what_they_mean_to_it(glob: str, yes: list[str], no: list[str], repo: Repo) -> None:
    repo.write("lefthook.yml", json.dumps({"pre-commit": {"jobs": [{"name": "a", "run": "a", "glob": glob}]}}))
    condition = taken("lefthook", repo)[0]["a"]["control"]
    pattern = json.loads(condition.removeprefix("matches(p, ").removesuffix(")"))
    assert [path for path in (*yes, *no) if regexes.regex(pattern)(path)] == yes


def test_two_names_that_look_alike_are_two_facts(repo: Repo) -> None:
    jobs = [{"name": name, "run": f"run {name}"} for name in ("a-b", "a_b")]
    repo.write("lefthook.yml", json.dumps({"pre-push": {"jobs": jobs}}))
    rules, facts, _ = taken("lefthook", repo)
    assert len(rules) == len(facts) == 2


def test_lines_of_husky_and_lint_staged_become_rules(repo: Repo) -> None:
    repo.write(".husky/pre-commit", '#!/bin/sh\n. "$(dirname "$0")/_/husky.sh"\n\nnpx lint-staged\nnpm test\n')
    repo.write(".husky/pre-push", "read -r line\nx\n")
    repo.write(".husky/commit-msg", 'npx commitlint --edit "$1"\n')
    repo.write(
        "package.json",
        json.dumps({"lint-staged": {"*.{js,md}": ["prettier -w", "git add", "x"], "a/**": [3], "*.+(a|b)": "y"}}),
    )
    rules, facts, left = taken("husky", repo)
    rule = rules["lint-staged-js-md"]
    assert rule["control"] == 'glob(p, ["*.js", "*.md"])' and rule["action"]["stage"] is True
    run_ = 'PATH=node_modules/.bin:$PATH; prettier -w "$@" && x "$@"'
    assert rule["action"]["command"] == ["sh", "-c", run_, "lint-staged"]
    path = "PATH=node_modules/.bin:$PATH"
    assert facts["check_husky_pre_commit"]["run"] == ["sh", "-e", "-c", f"{path}\nnpm test"]
    assert left == {
        "lint-staged a/**": "its commands are no texts",
        "lint-staged *.+(a|b)": "the glob *.+(a|b) has no counterpart",
        "husky pre-push": "it reads what git gives its hooks",
        "husky commit-msg": "it runs at commit-msg",
    }
    repo.write("package.json", "{}")
    assert importing.read("husky", str(repo.root)).left["lint-staged"] == "its settings are a program, or lie elsewhere"


@pytest.mark.parametrize(
    "more",
    ['entry: "it\'s"', "entry: x, types: 3", "entry: x, stages: 4", "entry: [x], args: 5", "entry: x, files: [a]"],
)
def test_settings_of_another_shape_stay_there(more: str, repo: Repo) -> None:
    hook = f"{{id: odd, language: system, {more}}}"
    repo.write(
        ".pre-commit-config.yaml", f"repos: [{{repo: local, hooks: [{hook}, {{id: b, entry: b, language: system}}]}}]"
    )
    found = importing.read("pre-commit", str(repo.root))
    layers.load(TextSource(found.text("pre-commit")))
    assert "b" in found.rules and (found.left.keys() == {"odd"} or "odd" in found.rules)


@pytest.mark.parametrize(
    ("manager", "text", "said"),
    [
        ("pre-commit", None, "there is no .pre-commit-config.yaml here"),
        ("pre-commit", "a: [", ".pre-commit-config.yaml cannot be read: "),
        ("pre-commit", "[]", "pre-commit does nothing here that ahp could take over"),
        ("pre-commit", "repos: {a: 1}", "pre-commit does nothing here that ahp could take over"),
        ("lefthook", None, "lefthook does nothing here that ahp could take over"),
        ("husky", None, "husky does nothing here that ahp could take over"),
    ],
)
def test_settings_that_say_nothing_are_an_error(manager: str, text: str | None, said: str, repo: Repo) -> None:
    if text is not None:
        repo.write(".pre-commit-config.yaml", text)
    with pytest.raises(AhpError, match="^" + said.replace(".", r"\.")):
        importing.read(manager, str(repo.root))


@pytest.fixture
def inside(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.chdir(repo.root)
    repo.write("lefthook.yml", LEFTHOOK)
    return repo


def test_the_policy_extends_what_is_written(inside: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    inside.write(".ahp/hooks.yaml", "version: 1\nextends: [core]\n")
    assert run(["import", "lefthook"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(
        ".ahp/lefthook.yaml: written\n.ahp/hooks.yaml: extends it\ntaken over: 3: style, build, tests\n"
    )
    assert "left to lefthook: some: `skip` has no counterpart\n" in out
    assert out.endswith("next: ahp policy lint, then ahp trust, then commit .ahp/\n")
    assert (inside.root / ".ahp/hooks.yaml").read_text() == "version: 1\nextends: [core, lefthook.yaml]\n"
    assert run(["policy", "lint"]) == 0
    capsys.readouterr()
    assert run(["import", "lefthook"]) == 2
    assert "ahp import lefthook --force" in capsys.readouterr().err
    assert run(["import", "lefthook", "--force"]) == 0
    assert (inside.root / ".ahp/hooks.yaml").read_text().count("lefthook.yaml") == 1


def test_where_extends_is_written_otherwise_the_line_is_told(inside: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    inside.write(".ahp/hooks.yaml", "version: 1\nextends:\n  - core  # not lefthook.yaml\n")
    assert run(["import", "lefthook"]) == 0
    assert "next: add `lefthook.yaml` to `extends` in .ahp/hooks.yaml\n" in capsys.readouterr().out


def test_nothing_is_written_without_a_policy_or_with_print(inside: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", "lefthook"]) == 2
    assert "write one first: ahp init" in capsys.readouterr().err
    assert run(["import", "lefthook", "--print"]) == 0
    told = capsys.readouterr()
    assert yaml.safe_load(told.out)["rules"].keys() == {"style", "build", "tests"}
    assert "left to lefthook: " in told.err
    assert not (inside.root / ".ahp").exists()


def test_outside_of_a_work_tree_there_is_nothing_to_import(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("none"))
    assert run(["import", "husky"]) == 2
    assert "this is no git work tree" in capsys.readouterr().err
