"""The calls of a session, as the session's facts read them."""

from __future__ import annotations

from pathlib import Path

from ahp.journal import session_calls


def test_what_is_noted_is_read_again(tmp_path: Path) -> None:
    folder = str(tmp_path / "ahp")
    call: dict[str, object] = {"native_name": "Write", "input": {"x": "\ud800"}, "writes": ["a", "b"]}
    session_calls.note(folder, "s", call, [], denied=False)
    session_calls.note(folder, "s", {"native_name": "Bash", "input": {}}, ["r/1"], denied=True)
    one, other = session_calls.read(folder, "s")
    assert (one.denied, one.rules, one.writes, one.digest) == (False, [], ["a", "b"], session_calls.digest_of(call))
    assert (other.denied, other.rules, other.writes) == (True, ["r/1"], []) and other.at >= one.at
    assert session_calls.read(folder, "another") == []
    assert (tmp_path / "ahp/sessions/s").stat().st_mode & 0o777 == 0o600


def test_torn_lines_and_lines_of_others_are_skipped(tmp_path: Path) -> None:
    folder = str(tmp_path)
    session_calls.note(folder, "s", {}, [], denied=True)
    path = tmp_path / "sessions" / "s"
    path.write_bytes(b"torn\n[1]\n[1, 2, 3, 4, 5]\n" + path.read_bytes() + b'[1, true, "x", [')
    assert [call.denied for call in session_calls.read(folder, "s")] == [True]
