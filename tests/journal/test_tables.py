from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ahp.journal.tables import SqlStore
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


def test_a_second_store_of_a_process_leaves_the_locks_of_the_first(tmp_path: Path) -> None:
    """Else whoever closes the database elsewhere takes itself for the last one, and removes the log that it is in."""
    path = str(tmp_path / "state.db")
    first = SqlStore(path)
    with first.transaction():
        first.reset()
    SqlStore(path).close()
    other = "import sys; from ahp.journal.tables import SqlStore; SqlStore(sys.argv[1]).close()"
    subprocess.run([sys.executable, "-c", other, path], check=True)
    assert os.path.exists(path + "-wal")
    first.close()
    assert not os.path.exists(path + "-wal")


def test_a_state_is_private_and_a_regular_file(tmp_path: Path) -> None:
    SqlStore(str(tmp_path / "state.db")).close()
    assert (tmp_path / "state.db").stat().st_mode & 0o777 == 0o600
    (tmp_path / "link").symlink_to("state.db")
    os.mkfifo(tmp_path / "fifo")
    for name in ("link", "fifo"):
        with pytest.raises(OSError, match="is not a regular file"):
            SqlStore(str(tmp_path / name))
