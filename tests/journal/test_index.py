from __future__ import annotations

import os

import pytest

from ahp.journal import index as indexes
from ahp.journal.append import Journal

from .written import PROMPT, VERDICT, assert_chained


def test_the_index_tells_what_is_open_for_whom(journal: Journal) -> None:
    journal.append([PROMPT])
    index = journal.index()
    assert index.keys == {"commit|size/1|main|agent"}
    assert index.has_open("commit", "main", "agent")
    assert not index.has_open("commit", "main", "human")
    assert not index.has_open("push", "main", "agent")
    assert not index.has_open("commit", "ain", "agent")
    journal.append([{**PROMPT, "kind": "episode-end"}])
    assert not journal.index().has_open("commit", "main", "agent")


@pytest.mark.parametrize(
    "more", [{"intensity": "aid"}, {"shadow": True}, {"waived": True}, {"hook": "pre-tool-use", "target": "shell rm"}]
)
def test_what_a_clean_evaluation_cannot_close_is_not_listed(journal: Journal, more: dict[str, object]) -> None:
    journal.append([{**PROMPT, **more}])
    assert journal.index().keys == set()


@pytest.mark.parametrize("text", ["", "a|b", "100%", "\n\t", "\udcff", "日本", "%41;", "\u202e|"])
def test_a_key_has_one_line_and_comes_back(text: str, journal: Journal) -> None:
    assert indexes.unescape(indexes.escape(text)) == text
    assert indexes.escape(text).isprintable()
    journal.append([{**PROMPT, "subject": text, "rule": text}])
    assert Journal(journal.folder).index().has_open("commit", text, "agent")


def test_a_removed_index_is_noticed_although_it_was_kept_open(journal: Journal) -> None:
    journal.append([VERDICT])
    os.unlink(journal.index_path)
    other = Journal(journal.folder)
    other.append([PROMPT])
    journal.append([VERDICT])
    assert other.index().has_open("commit", "main", "agent")
    assert_chained(journal)


def test_a_removed_index_is_noticed_where_the_log_has_the_size_it_had(journal: Journal) -> None:
    other = Journal(journal.folder)
    journal.append([VERDICT])
    begun = os.stat(journal.log_path).st_size
    other.append([{**VERDICT, "why": "a"}])
    size = os.stat(journal.log_path).st_size
    os.truncate(journal.log_path, begun)  # a power cut: the last line and the index were not yet on the disk
    os.unlink(journal.index_path)
    journal.append([{**VERDICT, "why": "b"}])
    assert os.stat(journal.log_path).st_size == size
    other.append([VERDICT])
    assert_chained(journal)
