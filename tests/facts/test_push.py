"""`push`: what one ref of a push does to the remote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ahp.facts import push
from ahp.protocol.event import PushRef

ALL = [f"push.{field}" for field in push.NAMESPACE.schema]
ZERO = "0" * 40


@pytest.fixture
def remote(repo: Any, tmp_path: Path) -> Any:
    repo.commit("first")
    repo.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    repo.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    repo.git("push", "-qu", "origin", "main")
    return repo


def test_messages_of_commits_and_of_tags_of_tags(remote: Any, make_event: Any, gather: Any) -> None:
    old, new = remote.head(), remote.commit("second\n\nwith a body")
    remote.git("tag", "-a", "-m", "inner words", "inner")
    remote.git("tag", "-a", "-m", "outer words", "outer", "inner")
    tag = remote.git("rev-parse", "outer")
    told = gather(pushing(make_event, tag, ZERO, "refs/tags/outer"), "push.messages")["push.messages"]
    assert told[:2] == [{"of": "tag outer", "text": "outer words\n"}, {"of": "tag inner", "text": "inner words\n"}]
    (body,) = gather(pushing(make_event, new, old), "push.messages")["push.messages"]
    assert body == {"of": f"commit {new[:10]}", "text": "second\n\nwith a body\n"}
    assert gather(pushing(make_event, ZERO, old), "push.messages") == {"push.messages": []}


def test_no_part_of_a_message_is_hidden_behind_a_nul(remote: Any, make_event: Any, gather: Any) -> None:
    old = remote.head()
    head = remote.git("cat-file", "commit", remote.commit("plain")).partition("\n\n")[0].encode()
    raw = ("hash-object", "-t", "commit", "--literally", "-w", "--stdin")
    hidden = remote.git(*raw, stdin=head + b"\n\nshown\0 and \0hidden\n")
    new = remote.git("commit-tree", "-p", hidden, "-m", "last", "HEAD^{tree}")
    told = gather(pushing(make_event, new, old), "push.messages")["push.messages"]
    assert [one["text"] for one in told] == ["last\n", "shown and hidden\n"]


def pushing(make_event: Any, local: str, old: str, ref: str = "refs/heads/main", remote: str = "origin") -> Any:
    return make_event("pre-push", remote=remote, push=PushRef("refs/heads/local", local, ref, old))


def test_new_commits_on_a_known_branch(remote: Any, make_event: Any, gather: Any) -> None:
    old = remote.head()
    second, new = remote.commit("second"), remote.commit("third\n\nbody")
    assert gather(pushing(make_event, new, old), *ALL) == {
        "push.remote": "origin",
        "push.ref": "refs/heads/main",
        "push.local_ref": "refs/heads/local",
        "push.is_force": False,
        "push.is_delete": False,
        "push.is_new": False,
        "push.is_tag": False,
        "push.commit_count": 2,
        "push.messages": [
            {"of": f"commit {new[:10]}", "text": "third\n\nbody\n"},
            {"of": f"commit {second[:10]}", "text": "second\n"},
        ],
    }


def test_a_persons_log_configuration_adds_nothing(remote: Any, make_event: Any, gather: Any) -> None:
    remote.git("config", "log.showSignature", "true")
    remote.git("config", "i18n.logOutputEncoding", "ISO-8859-1")
    remote.git("config", "color.ui", "always")
    old, new = remote.head(), remote.commit("ümläut")
    assert gather(pushing(make_event, new, old), "push.messages") == {
        "push.messages": [{"of": f"commit {new[:10]}", "text": "ümläut\n"}]
    }


def test_a_new_branch_brings_only_what_the_remote_lacks(remote: Any, make_event: Any, gather: Any) -> None:
    remote.git("checkout", "-qb", "feature")
    new = remote.commit("second")
    facts = gather(pushing(make_event, new, ZERO, "refs/heads/feature"), *ALL)
    assert facts["push.is_new"] is True and facts["push.is_force"] is False
    assert facts["push.commit_count"] == 1
    # to an address nobody fetched from, what any remote has counts as known
    facts = gather(pushing(make_event, new, ZERO, "refs/heads/feature", "https://example.org/x.git"), *ALL)
    assert facts["push.commit_count"] == 1


def test_rewritten_history_is_force(remote: Any, make_event: Any, gather: Any) -> None:
    old = remote.head()
    remote.git("commit", "-q", "--amend", "--allow-empty", "-m", "other")
    facts = gather(pushing(make_event, remote.head(), old), "push.is_force", "push.commit_count")
    assert facts == {"push.is_force": True, "push.commit_count": 1}


def test_what_was_never_fetched_would_be_lost(remote: Any, make_event: Any, gather: Any) -> None:
    remote.commit("second")
    facts = gather(pushing(make_event, remote.head(), "1" * 40), "push.is_force", "push.commit_count")
    assert facts == {"push.is_force": True, "push.commit_count": 1}  # over what was fetched last
    remote.git("update-ref", "-d", "refs/remotes/origin/main")
    facts = gather(pushing(make_event, remote.head(), "1" * 40), "push.is_force", "push.commit_count")
    assert facts["push.is_force"] is True
    assert facts["missing"]["push.commit_count"][1] == "git fetch origin"


def test_a_deletion_brings_nothing(remote: Any, make_event: Any, gather: Any) -> None:
    facts = gather(pushing(make_event, ZERO, remote.head()), *ALL)
    assert facts["push.is_delete"] is True and facts["push.is_force"] is False
    assert facts["push.commit_count"] == 0 and facts["push.local_ref"] == ""


def test_moving_a_tag_is_force(remote: Any, make_event: Any, gather: Any) -> None:
    old = remote.head()
    facts = gather(pushing(make_event, remote.commit("x"), old, "refs/tags/v1"), "push.is_tag", "push.is_force")
    assert facts == {"push.is_tag": True, "push.is_force": True}


def test_a_missing_local_commit_is_unknown(remote: Any, make_event: Any, gather: Any) -> None:
    event = pushing(make_event, "refs/heads/nothing", ZERO)
    missing = gather(event, "push.commit_count", "push.messages")["missing"]
    assert missing["push.commit_count"][1] == missing["push.messages"][1] == "git fsck"


def test_elsewhere_there_is_no_push(make_event: Any, gather: Any) -> None:
    assert gather(make_event("pre-push"), "push.ref")["missing"] == {"push.ref": ("nothing is being pushed", "")}
