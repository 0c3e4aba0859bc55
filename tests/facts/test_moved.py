"""`moved` has the files with another path, and says what of them it does not know."""

from __future__ import annotations

from typing import Any

import pytest

from ahp.facts import moved
from ahp.facts.registry import Absent
from ahp.system import moved as texts


def test_a_file_with_another_path_is_told_as_a_whole(
    repo: Any, make_event: Any, gather: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit("first", **{f"old/{name}": f"{name}\n" * 10 for name in "abcdef"})
    repo.git("mv", "old", "new")
    files = [{"path": f"new/{name}", "old_path": f"old/{name}", "text": f"{name}\n" * 10} for name in "abcdef"]
    assert gather(make_event(), "moved.files") == {"moved.files": files}
    monkeypatch.setattr(texts, "LIMIT", 1)
    monkeypatch.setattr(texts, "_AT_ONCE", 1)
    absent = moved.gather(make_event(), frozenset({"files"}), None)["files"]
    assert isinstance(absent, Absent) and absent.unknowable and absent.known == files[:1]
    assert absent.reason == "there is too much text in moved files; not read: new/b, new/c, new/d and 2 more"


def test_what_is_not_here_is_unknown_and_nothing_is_moved_where_nobody_says_so(
    repo: Any, make_event: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit("first", old="a\n" * 10)
    assert moved.gather(make_event(), frozenset({"files"}), None) == {"files": []}
    repo.git("mv", "old", "new")
    event = make_event()
    lacking = texts.Moved()
    lacking.lacking.append("new")
    monkeypatch.setattr(texts, "of", lambda view: lacking)
    absent = moved.gather(event, frozenset({"files"}), None)["files"]
    assert isinstance(absent, Absent) and absent.unknowable and absent.known == []
    assert absent.reason == "the content of new is not in this partial clone"
    event.view = None
    with pytest.raises(Absent):
        moved.gather(event, frozenset({"files"}), None)
