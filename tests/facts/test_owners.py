"""`owners`: CODEOWNERS of GitHub, GitLab and Gitea, as it was before the change."""

from __future__ import annotations

from typing import Any

import pytest

from ahp.facts import owners
from tests.conftest import Repo

ALL = [f"owners.{field}" for field in owners.NAMESPACE.schema]
GITHUB = """\
# everything
*       @all
/docs/  @writers  docs@example.com  # two
*.js    @web
apps    @o/apps
/apps/free
"""
GITLAB = """\
* @all
[Web Team][2] @web
*.js
/api/ @api
^[Docs] @writers
docs/
"""
GITEA = """\
.*\\.js$ @web
docs/.* @writers
"""


@pytest.mark.parametrize(
    ("place", "text", "owned"),
    [
        (
            ".github/CODEOWNERS",
            GITHUB,
            {
                "a.py": ["@all"],
                "docs/a.js": ["@web"],
                "docs/a.md": ["@writers", "docs@example.com"],
                "x/apps/a": ["@o/apps"],
                "apps/free/a": [],
            },
        ),
        (
            ".gitlab/CODEOWNERS",
            GITLAB,
            {"a.js": ["@all", "@web"], "api/a.js": ["@all", "@api"], "docs/a": ["@all", "@writers"]},
        ),
        (".gitea/CODEOWNERS", GITEA, {"a/b.js": ["@web"], "docs/x": ["@writers"], "x/docs/x": []}),
    ],
)
def test_the_last_line_of_each_section_that_names_a_path_tells_its_owners(
    repo: Repo, make_event: Any, gather: Any, place: str, text: str, owned: dict[str, list[str]]
) -> None:
    repo.commit("first", **{place: text})
    for path in owned:
        repo.write(path, "x\n")
    repo.add()
    facts = gather(make_event(), *ALL)
    teams = ["@o/apps"] if place == ".github/CODEOWNERS" else []
    uncovered = [path for path in owned if not owned[path]]
    assert facts == {"owners.of": owned, "owners.teams": teams, "owners.uncovered": uncovered}


def test_a_change_of_the_owners_does_not_change_who_owns_it(repo: Repo, make_event: Any, gather: Any) -> None:
    repo.commit("first", CODEOWNERS="* @all\n")
    repo.write("CODEOWNERS", "* @me\n")
    repo.write("docs/CODEOWNERS", "* @me\n")
    repo.write(".github/CODEOWNERS/x", "no file\n")
    repo.add()
    assert set(map(tuple, gather(make_event(), *ALL)["owners.of"].values())) == {("@all",)}
    repo.git("rm", "-qrf", ".")
    assert gather(make_event(), *ALL) == {
        "owners.of": {"CODEOWNERS": ["@all"]},
        "owners.teams": [],
        "owners.uncovered": [],
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [("", "there is no CODEOWNERS"), ("!x\n", "CODEOWNERS:1: exclusions"), ("* @a\na[ @b\n", "CODEOWNERS:2: ")],
)
def test_without_a_file_that_can_be_read_nothing_is_said(
    repo: Repo, make_event: Any, gather: Any, text: str, why: str
) -> None:
    repo.write("CODEOWNERS", text)
    repo.add()
    missing = gather(make_event(), *ALL)["missing"]
    assert set(missing) == set(ALL) and why in str(missing)
