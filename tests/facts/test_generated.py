"""`generated`: the files that .gitattributes marks, as it was before the change."""

from __future__ import annotations

from typing import Any

from ahp.system import git
from ahp.system.history import CommitView
from tests.conftest import Repo

TOP = "gen/* linguist-generated=true\nlib/** linguist-vendored\n*.pb linguist-generated text\n"
DEEP = "# more\na.pb -linguist-generated\nb.pb linguist-generated=false\nc !linguist-vendored\nd linguist-generated\n"
PATHS = ("gen/a", "gen/deep/a", "lib/deep/a", "lib/c", "lib/d", "lib/x.pb", "lib/b.pb", "x.pb", "src/a.pb")


def test_the_last_line_and_the_deeper_file_tell_what_is_generated(repo: Repo, make_event: Any, gather: Any) -> None:
    repo.commit("first", **{".gitattributes": TOP, "lib/.gitattributes": DEEP})
    for path in PATHS:
        repo.write(path, "x\n")
    repo.add()
    staged = gather(make_event(), "generated.paths")
    marked = [path for path in PATHS if repo.git("check-attr", "-z", "linguist-generated", "--", path)[-5:-1] in
              ("true", "\0set")]  # fmt: skip
    assert set(marked) <= set(staged["generated.paths"])
    assert set(staged["generated.paths"]) - set(marked) == {"lib/deep/a", "lib/b.pb"}
    repo.commit("second")
    view = CommitView(git.discover(str(repo.root), {}), "HEAD")
    assert gather(make_event(view=view), "generated.paths") == staged


def test_a_change_does_not_mark_itself_as_generated(repo: Repo, make_event: Any, gather: Any) -> None:
    repo.commit("first", **{".gitattributes": "gen/* linguist-generated\n"})
    repo.write(".gitattributes", "* linguist-generated\n")
    repo.write("src/a.py", "x\n")
    repo.add()
    assert gather(make_event(), "generated.paths") == {"generated.paths": []}
