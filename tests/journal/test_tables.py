from __future__ import annotations

import pytest

from ahp.journal.tables import _boot as tables_boot

from .story import DAY, Story


def test_a_system_that_does_not_name_its_start_is_one_without_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*_: object, **__: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr("builtins.open", nothing)
    assert tables_boot() == ""


def test_hostile_names_survive_the_database(story: Story) -> None:
    for name in ("a|b%\n", "\udcff", "\ud800é", "日本", "'; DROP TABLE signals; --"):
        story.signal(subject=name, rule=name)
        with story.state() as state:
            from ahp.journal.index import episode_key

            episode = state.episode(episode_key("commit", name, name, "agent"))
            assert episode and episode.count == 1
    story.now += 15 * DAY
    with story.state() as state:
        assert state.settle() == 5
    assert story.journal.index().keys == set()
    with story.state() as state:
        assert state.store.open_keys() == set()
