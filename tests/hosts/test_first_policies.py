"""The policy that `adopt` writes for the kinds of repository that newcomers have: layouts and histories made here."""

from __future__ import annotations

import os
from typing import NamedTuple

import pytest

from ahp.hosts import adoption
from ahp.hosts.asking import around
from ahp.protocol.event import Actor
from tests.conftest import Repo


class Kind(NamedTuple):
    """A repository: its files, who commits in turn under which subjects, and what the policy then is."""

    files: dict[str, str]
    authors: tuple[str, ...]
    subjects: tuple[str, ...]
    packs: list[str]
    asked: set[str] = set()  # noqa: RUF012
    watched: set[str] = set()  # noqa: RUF012
    size: int = 20


TEAM = ("ann", "bob", "cem")
REVIEWED = ("Change it (#{n})", "Merge pull request #{n} from x/y")
KINDS = {
    "a Python library": Kind(
        {"pyproject.toml": "[tool.ruff]\nfix = true\n[tool.mypy]\npretty = true\n", "src/a.py": "x = 1\n"},
        TEAM,
        REVIEWED,
        ["core", "python"],
    ),
    "a TypeScript package of one author": Kind(
        {"package.json": '{"name": "a"}', "source/index.ts": "export {}\n"},
        ("ann",),
        ("Tweak {n}",),
        ["core", "node"],
        asked={"protect-main"},
    ),
    "a Go module whose subjects nearly all are conventional": Kind(
        {"go.mod": "module a.b/c\n", "c.go": "package c\n"},
        TEAM,
        (*["feat: add it (#{n})"] * 19, "Mend it (#{n})"),
        ["core", "go", "conventional-commits"],
        asked={"conventional-subject"},
    ),
    "a Rust workspace without reviews": Kind(
        {"Cargo.toml": "[workspace]\nmembers = ['crates/*']\n", "crates/a/Cargo.toml": "[package]\nname = 'a'\n"},
        TEAM,
        ("cli: mend it",),
        ["core", "rust"],
        watched={"protect-main"},
    ),
    "Python with an extension in Rust": Kind(
        {"pyproject.toml": "[build-system]\nrequires = ['maturin']\n", "core/Cargo.toml": "[package]\n", "uv.lock": ""},
        TEAM,
        REVIEWED,
        ["core", "python", "rust"],
    ),
    "a monorepo with nothing at the top": Kind(
        {"api/pyproject.toml": "", "apps/web/package.json": "{}", "jobs/pom.xml": "<project/>"},
        TEAM,
        REVIEWED,
        ["core", "python", "node", "java"],
    ),
    "documents": Kind(
        {"README.md": "# Proposals\n", "proposals/0001/README.md": "One.\n", "proposals/0001/PLAN.PNG": "\0"},
        TEAM,
        ("Add proposal {n}",),
        ["core"],
        watched={"protect-main"},
    ),
    "a toy on its third commit, with a breakpoint in it": Kind(
        {"main.py": "breakpoint()\n", "a.py": "", "b.py": ""},
        ("ann",),
        ("try {n}",),
        ["core", "python"],
        asked={"protect-main"},
        watched={"python-debugger"},
        size=3,
    ),
}


def history(repo: Repo, kind: Kind) -> None:
    stream = []
    for n in range(kind.size):
        who = kind.authors[n % len(kind.authors)]
        subject = kind.subjects[n % len(kind.subjects)].format(n=n + 1)
        files = kind.files if n == 0 else {"NEWS": f"{n}\n"}
        stream.append(f"commit refs/heads/main\ncommitter {who} <{who}@x.y> {1_700_000_000 + n} +0000\n")
        stream.append(f"data {len(subject)}\n{subject}\n")
        stream += [f"M 644 inline {path}\ndata {len(text)}\n{text}\n" for path, text in files.items()]
    repo.git("fast-import", "--quiet", stdin="".join(stream).encode())
    repo.git("reset", "--quiet", "--hard")


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_packs_and_levels_fit_the_repository(name: str, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = KINDS[name]
    history(repo, kind)
    monkeypatch.chdir(repo.root)
    done = adoption.adopt(around(os.getcwd()), Actor("human"))
    assert done.plan.packs == kind.packs
    assert (set(done.plan.asked), set(done.plan.watched)) == (kind.asked, kind.watched)
    assert done.tally.judged == kind.size and done.tally.unjudged == []
    levels = {rule.key: "shadow" if rule.shadow else rule.intensity["default"] for rule in done.policy.rules}
    quieter = {**dict.fromkeys(kind.asked, "prompt"), **dict.fromkeys(kind.watched, "shadow")}
    refusing = ("protect-main", "no-force-push", "no-secrets", "no-merge-markers")
    assert {key: levels[key] for key in {*refusing, *quieter}} == {**dict.fromkeys(refusing, "block"), **quieter}
