"""What a load finds of a condition that is always or never true; `ahp policy lint` finds more, by a solver."""

from __future__ import annotations

import pytest

from ahp.conditions.typecheck import check
from tests.conditions.test_typecheck import SCHEMA

CONSTANT = [
    ("files.changed_count >= 0", True),
    ("files.changed_count < 0", False),
    ("len(files.changed) >= 0", True),
    ("true", True),
    ("files.changed_count > 5 and files.changed_count < 3", False),
    ("files.changed_count > 5 or files.changed_count < 9", True),
    ("3 < files.changed_count < 4", False),
    ("files.changed_count in [] or not b.flag and b.flag", False),
    ("tool.name in ['shell', 'write']", None),
    ("tool.name != 'shell' and tool.name != 'write'", None),
    ("branch.name is None", None),
    ("tests.failed is None", False),
    ("not tests.failed is None", True),
    ("any(x == 'a' and x == 'b' for x in files.changed)", None),
    ("all(x != 'a' or x != 'b' for x in files.changed)", None),
    ("abs(files.changed_count) < 0", False),
    ("1 < 2", True),
    ("files.changed_count + len(branch.name) < 0", False),
    ("-files.changed_count > 0", False),
    ("files.changed_count * 2 < 0", False),
    ("files.changed_count % 3 > 3", False),
    ("min(files.changed_count, 3) > 3", False),
    ("max(files.changed_count, 3) < 3", False),
    ("files.changed_count != files.changed_count", None),
    ("len(files.changed) > 0 - 1", True),
    ("b.flag and not b.flag", False),
    ("count(x == 'a' for x in files.changed) < 0", False),
    ("files.changed_count > 1e308 * 10", False),
    ("b.flag", None),
    ("files.changed_count - 1 < 0 or files.changed_count > 2", None),
    ("has(tests.failed) and not has(tests.failed)", False),
    ("b.flag and (files.changed_count < 0 or not b.flag)", None),
    ("tool.input.x == 1 and tool.input.x == 2", None),
]


@pytest.mark.parametrize(("text", "verdict"), CONSTANT)
def test_what_is_always_or_never_true_is_found(text: str, verdict: bool | None) -> None:
    checked = check(text, SCHEMA)
    assert checked.constant is verdict
    assert (checked.constant_problem is None) == (verdict is None or text == "true")
