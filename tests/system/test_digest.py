"""SHA-256 without hashlib."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from ahp.system import digest


@given(st.binary())
def test_it_is_sha256(data: bytes) -> None:
    assert digest.sha256(data) == hashlib.sha256(data).hexdigest()
    assert digest.tagged(data) == "sha256:" + hashlib.sha256(data).hexdigest()
