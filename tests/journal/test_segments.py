"""The files of a log and their lines, from either end, whatever their bytes are."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.journal import segments
from ahp.journal.segments import Line, Segment
from ahp.system.errors import AhpError


def test_the_files_of_a_log_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("signals.10.jsonl", "signals.2.jsonl", "signals.jsonl", "signals.02.jsonl", "signals.next.jsonl"):
        (tmp_path / name).touch()
    found = segments.listed(str(tmp_path))
    assert [(part.serial, os.path.basename(part.path)) for part in found] == [
        (2, "signals.2.jsonl"),
        (10, "signals.10.jsonl"),
        (11, "signals.jsonl"),
    ]
    assert segments.listed(str(tmp_path / "none")) == []
    with pytest.raises(AhpError, match="cannot list"):
        segments.listed(str(tmp_path / "signals.jsonl"))


@given(
    lines=st.lists(st.binary(max_size=40).map(lambda raw: raw.replace(b"\n", b"")), max_size=12), ended=st.booleans()
)
@pytest.mark.parametrize("block", [1, 7, 64 << 10])
def test_lines_are_the_same_from_either_end(
    tmp_path_factory: pytest.TempPathFactory, block: int, lines: list[bytes], ended: bool
) -> None:
    data = b"\n".join(lines) + b"\n" * (ended and bool(lines))
    path = tmp_path_factory.mktemp("log") / "signals.jsonl"
    path.write_bytes(data)
    part = Segment(3, str(path))
    begins = [0, *itertools.accumulate(len(raw) + 1 for raw in data.split(b"\n"))]
    expected = [Line(3, at, raw, at + len(raw) < len(data)) for at, raw in zip(begins, data.split(b"\n"), strict=False)]
    if not expected[-1].raw:
        expected.pop()  # after the last newline there is no line
    assert list(segments.forward_in(part, block=block)) == expected
    assert list(segments.backward_in(part, block=block))[::-1] == expected
    for line in expected:
        assert next(segments.forward_in(part, line.offset)) == line
        before = segments.line_before(part, line.end)
        assert before == (line.raw if line.ended else None)


def test_a_line_longer_than_a_block_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "signals.jsonl"
    long = b"x" * (3 * segments.BLOCK)
    path.write_bytes(b"a\n" + long + b"\nb\n")
    part = Segment(1, str(path))
    assert [line.raw for line in segments.forward_in(part)] == [b"a", long, b"b"]
    assert [line.raw for line in segments.backward_in(part)] == [b"b", long, b"a"]
    assert segments.line_before(part, 3 + len(long)) == long


@pytest.mark.parametrize(
    ("raw", "record"),
    [(b'{"n": 1}', {"n": 1}), (b'{"n": 1', None), (b"[1]", None), (b"\xff", None), (b"", None)],
)
def test_only_an_object_is_a_record(raw: bytes, record: dict[str, object] | None) -> None:
    assert Line(1, 0, raw, True).record() == record


def test_the_lines_of_a_chain_are_counted_by_the_last_number(tmp_path: Path) -> None:
    log = tmp_path / "signals.jsonl"
    log.write_text('{"n": 41}\n{"n": 0}\ntorn\n')
    assert segments.count(str(tmp_path)) == 43
    log.write_text("torn\n{}\n")
    assert segments.count(str(tmp_path)) == 2
    assert segments.count(str(tmp_path / "none")) == 0


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "signals.jsonl")
    (tmp_path / "signals.1.jsonl").symlink_to("signals.jsonl")
    for part, why in zip(
        segments.listed(str(tmp_path)),
        ("is a symbolic link, which ahp does not follow", "not a regular file"),
        strict=True,
    ):
        with pytest.raises(AhpError, match=why):
            next(segments.forward_in(part))

    def broken(*given: object) -> bytes:
        raise OSError(5, "Input/output error")

    (tmp_path / "signals.jsonl").unlink()
    (tmp_path / "signals.jsonl").write_text("{}\n")
    for name in ("fstat", "pread"):
        with monkeypatch.context() as patched:
            patched.setattr(os, name, broken)
            with pytest.raises(AhpError, match="Input/output error"):
                next(segments.forward_in(segments.listed(str(tmp_path))[-1]))


def test_a_file_that_was_read_need_not_close(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "signals.jsonl"
    path.write_text("a\n")
    close = os.close

    def broken(fd: int) -> None:
        close(fd)
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "close", broken)
        assert [line.raw for line in segments.forward_in(Segment(1, str(path)))] == [b"a"]


def test_the_opening_of_a_file_is_its_first_record(tmp_path: Path) -> None:
    path = tmp_path / "signals.jsonl"
    path.write_text("torn\n{}\n")
    assert segments.opening(Segment(1, str(path))) == {}
    path.write_text('{"kind": "genesis"}\n{}\n')
    assert segments.opening(Segment(1, str(path))) == {"kind": "genesis"}
    path.write_text("")
    assert segments.opening(Segment(1, str(path))) == {}


def test_a_file_is_read_under_the_name_that_it_has_by_now(tmp_path: Path) -> None:
    (tmp_path / "signals.jsonl").write_text("a\nb\n")
    (listed,) = segments.listed(str(tmp_path))
    (tmp_path / "signals.jsonl").rename(tmp_path / "signals.1.jsonl")
    for following in (None, "c\n"):  # between the two renames of a rotation, and after them
        if following:
            (tmp_path / "signals.jsonl").write_text(following)
        assert [line.raw for line in segments.forward_in(listed)] == [b"a", b"b"]
        assert [line.raw for line in segments.backward_in(listed)] == [b"b", b"a"]
        assert segments.line_before(listed, 4) == b"b"


def test_a_file_that_was_removed_since_it_was_listed_is_read_as_an_empty_one(tmp_path: Path) -> None:
    for listed in (Segment(1, str(tmp_path / "signals.1.jsonl")), Segment(2, str(tmp_path / "signals.jsonl"))):
        assert [*segments.forward_in(listed), *segments.backward_in(listed)] == []
        assert (segments.opening(listed), segments.line_before(listed, 3)) == ({}, None)
