"""The files of an archive which may decide what is allowed here; of an archive its names alone are read."""

import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from itertools import islice

from ahp.system import files
from ahp.system.errors import AhpError

_LARGEST, _LARGEST_PACKED = 64 << 20, 16 << 20  # bytes of an archive that is read through; of a compressed tar
_UNPACKED = 1 << 30  # bytes of members, behind which no more names are looked for
_MOST = 50_000  # members
_DOTLESS = ("lefthook", "opencode")  # how the names of protected files begin that do not begin with a dot


def members(path: str, stripped: int) -> list[str]:
    """The names in a tar or zip archive in which a part begins like that of a protected file, without their first
    `stripped` parts; those before the fault of one that is damaged, [] of what is none, is not there, or is too large.
    """
    found: list[str] = []
    try:
        data = files.read(path, _LARGEST)
        if data:
            found.extend(_names(data))
    except (AhpError, OSError, EOFError, ValueError, tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError):
        pass  # a program that unpacks it comes no further either
    names = ["/".join([part for part in name.split("/") if part != "."][stripped:]) for name in found]
    return [name for name in names if any(part.startswith((".", *_DOTLESS)) for part in name.split("/"))]


def _names(data: bytes) -> Iterator[str]:
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as opened:
            yield from opened.namelist()[:_MOST]
    elif len(data) <= _LARGEST_PACKED or data[257:262] == b"ustar":
        left = _UNPACKED
        with tarfile.open(fileobj=io.BytesIO(data)) as opened_tar:
            for member in islice(opened_tar, _MOST):
                yield member.name
                left -= member.size
                if left < 0:
                    break
