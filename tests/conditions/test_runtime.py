"""The absent fact."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from ahp.conditions.evaluate import MISSING, Undecided


def test_missing_refuses_every_operation_but_copies() -> None:
    operations: list[Any] = [
        lambda: MISSING == 1,
        lambda: MISSING != 1,
        lambda: MISSING < 1,
        lambda: MISSING < 1,
        lambda: MISSING + 1,
        lambda: 1 - MISSING,
        lambda: hash(MISSING),
        lambda: bool(MISSING),
        lambda: len(MISSING),
        lambda: list(MISSING),
        lambda: MISSING[0],
        lambda: 1 in MISSING,
        lambda: -MISSING,
        lambda: abs(MISSING),
        lambda: MISSING.lower(),
        lambda: MISSING // 2,
        lambda: 2 % MISSING,
        lambda: 2 / MISSING,
    ]
    for operation in operations:
        with pytest.raises(Undecided, match="missing_fact"):
            operation()
    assert repr(MISSING) == "MISSING"
    assert (
        copy.deepcopy(MISSING) is MISSING
        and copy.copy(MISSING) is MISSING
        and pickle.loads(pickle.dumps(MISSING)) is MISSING
    )
