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

_LARGEST = 64 << 20  # bytes of an archive that is read through
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
    else:
        with tarfile.open(fileobj=io.BytesIO(data)) as unpacked:
            yield from (member.name for member in islice(unpacked, _MOST))
