"""SHA-256 without `hashlib`, whose OpenSSL binding alone takes longer to load than a commit takes to judge."""

try:
    from _sha2 import sha256 as _sha256  # Python 3.12 and later
except ImportError:
    try:
        from _sha256 import sha256 as _sha256  # Python 3.11
    except ImportError:  # an interpreter built without its own SHA-2
        from hashlib import sha256 as _sha256


def sha256(data: bytes) -> str:
    """64 hexadecimal digits."""
    digest: str = _sha256(data).hexdigest()
    return digest


def tagged(data: bytes) -> str:
    """A digest that names its algorithm, as logs and caches hold it: `sha256:…`."""
    return "sha256:" + sha256(data)
