"""ahp.runner.context.retriever"""

from __future__ import annotations

import pytest

from ahp.runner.context.retriever import names


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("analyse src/auth.py, the login logic", ["src/auth.py", "analyse", "login", "logic"]),
        ("分析 src/auth.py 中的登录逻辑", ["src/auth.py"]),
        ("rename `max age` and session_expiry in AuthConfig", ["max age", "session_expiry", "AuthConfig"]),
        ("make all the tests work", []),
        ("the README", ["README"]),
        ("why does ahp.runner.run.Agent fail?", ["ahp.runner.run.Agent", "fail"]),
        ("", []),
    ],
)
def test_paths_identifiers_and_quoted_words_come_before_plain_ones(text: str, found: list[str]) -> None:
    assert names(text) == found


def test_what_the_step_names_comes_before_what_the_task_names() -> None:
    assert names("mend load_user", "mend save_user and load_user") == ["load_user", "save_user"]


def test_there_are_never_more_than_a_few() -> None:
    assert len(names(" ".join(f"name_{n}" for n in range(10_000)))) == 12
    assert names("x_" * 100_000) == []
