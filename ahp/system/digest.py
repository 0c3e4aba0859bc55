"""Digests without `hashlib`: loading its OpenSSL binding takes longer than judging a commit.  [light]"""

import sys

try:
    if sys.version_info >= (3, 12):
        from _sha2 import sha256 as _sha256
    else:
        from _sha256 import sha256 as _sha256
    _sha256(b"").hexdigest()
except (ImportError, AttributeError, TypeError):  # some builds leave hashes to OpenSSL
    from hashlib import sha256 as _sha256


def sha256(data: bytes) -> str:
    """64 hexadecimal digits."""
    digest: str = _sha256(data).hexdigest()
    return digest


def tagged(data: bytes) -> str:
    """A digest that names its algorithm, as logs and caches hold it: `sha256:…`."""
    return "sha256:" + sha256(data)


def object_id(kind: bytes, content: bytes, length: int) -> str:
    """The id of an object of git in a repository whose ids have `length` hexadecimal digits (gitformat-pack)."""
    data = b"%b %d\0" % (kind, len(content)) + content
    return sha256(data) if length == 64 else _sha1(data)


def _sha1(data: bytes) -> str:
    try:
        from _sha1 import sha1

        return str(sha1(data, usedforsecurity=False).hexdigest())
    except (ImportError, AttributeError, TypeError):
        from hashlib import sha1 as slower

        return slower(data, usedforsecurity=False).hexdigest()
