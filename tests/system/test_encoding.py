"""What is text, by the first bytes of a file."""

from __future__ import annotations

import gzip
import marshal
import struct
import tarfile
from io import BytesIO

import pytest

from ahp.system import encoding

PLAIN = b"token = 'AKIAABCDEFGHIJ234567'\nsecond line\n"
TEXT = "token = 'AKIAABCDEFGHIJ234567'\r\nzweite Zeile: ü\r\n"


def archive() -> bytes:
    made = BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        info = tarfile.TarInfo("a.txt")
        info.size = len(PLAIN)
        tar.addfile(info, BytesIO(PLAIN))
    return made.getvalue()


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"", "utf-8"),
        (PLAIN, "utf-8"),
        (bytes(range(1, 256)), "utf-8"),  # as git has it: no NUL, no binary file
        (PLAIN + b"\0", "utf-8"),
        (b"\0" + PLAIN, "utf-8"),
        (PLAIN.replace(b"\n", b"\0\n"), "utf-8"),
        ("grün\n".encode() * 2000 + b"\0", "utf-8"),
        (TEXT.encode("utf-16-le"), "utf-16-le"),
        (TEXT.encode("utf-16-be"), "utf-16-be"),
        (b"\xff\xfe" + "токен\n".encode("utf-16-le"), "utf-16-le"),
        (b"\xfe\xff" + "токен\n".encode("utf-16-be"), "utf-16-be"),
        (b"\xff\xfe\0\0" + "токен\n".encode("utf-32-le"), "utf-32-le"),
        (b"\0\0\xfe\xff" + "токен\n".encode("utf-32-be"), "utf-32-be"),
        ("AKIA\nx\n".encode("utf-32-le"), "utf-32-le"),
        ("AKIA\nx\n".encode("utf-32-be"), "utf-32-be"),
        (b"\0", ""),
        (b"\0\1\nnot a line\n", ""),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, ""),
        (gzip.compress(PLAIN * 50, mtime=0), ""),
        (marshal.dumps(compile("x = 1\nprint(x)", "a", "exec")), ""),
        (struct.pack("<40I", *range(40)), ""),
        (archive(), ""),
        (b"\0" * 8000, ""),
    ],
)
def test_what_is_text(head: bytes, name: str) -> None:
    assert encoding.of(head) == name


def test_only_the_beginning_is_looked_at() -> None:
    assert encoding.of(b"x" * encoding.LOOKED_AT + b"\0\1\2" * 99) == "utf-8"


def test_text_in_utf_16_is_read_without_its_mark_and_never_fails() -> None:
    assert encoding.decoded(b"\xff\xfea\0\n\0", "utf-16-le") == "a\n"
    assert encoding.decoded(b"a\0\x00\xd8b", "utf-16-le").startswith("a\ufffd")
