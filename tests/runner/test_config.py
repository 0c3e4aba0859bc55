"""ahp.runner.config and ahp.runner.validation"""

from __future__ import annotations

from pathlib import Path

import pytest

from ahp.runner.config import _AS_COMMITTED, _FREE, AgentConfig, Boxed, ReplyFormat, load_config
from ahp.runner.verification.command_checks import NamedCheck
from ahp.system.errors import AhpError
from tests.conftest import Repo


def write(root: Path, text: str) -> str:
    (root / ".ahp").mkdir(exist_ok=True)
    (root / ".ahp" / "agent.yaml").write_text(text)
    return str(root)


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert load_config(str(tmp_path)) == AgentConfig()
    assert load_config(write(tmp_path, "# nothing\n")) == AgentConfig()


def test_a_file_sets_what_it_names(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, "max_tokens: 2048\nenable_planning: false\nbudget_usd: 0.5\n"))
    assert (config.max_tokens, config.enable_planning, config.budget_usd) == (2048, False, 0.5)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("max_tokens: 0", r"agent.yaml:1:13: max_tokens: .*greater than or equal to 1"),
        ("max_tokens: -1", "max_tokens"),
        ("max_replans: -1", "max_replans"),
        ("max_token: 5", "max_token: no such name; did you mean max_tokens"),
        ("max_tokens: 1\nmax_tokens: 2", r"agent.yaml:2:1: the key 'max_tokens' is already given in line 1"),
        ("budget_usd: .nan", "budget_usd"),
        ("a: [", r"agent.yaml:1:\d+"),
        ("a: 1\nmax_tokens: x", r"agent.yaml:1:1: a: no such name\n.*agent.yaml:2:13: max_tokens: "),
        ("- a", "agent.yaml:1:1: the file"),
        ("when: 2026-99-99", "when: no such name$"),
        ("a: " + "[" * 5_000, "agent.yaml"),
        ("x: " + "y" * 70_000, "bytes"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(AhpError, match=problem):
        load_config(write(tmp_path, text))


def test_a_reply_has_1024_tokens_by_default() -> None:
    assert AgentConfig().max_tokens == 1024


def test_no_field_holds_a_key_and_every_number_says_what_0_means() -> None:
    for name, field in AgentConfig.model_fields.items():
        assert not any(word in name for word in ("key", "secret", "password", "token_value")), name
        assert field.description, name
        kinds = (bool, str | None, tuple[str, ...], tuple[NamedCheck, ...], ReplyFormat, Boxed)
        if field.annotation not in kinds and name != "mcp_servers":
            assert " 0 " in f" {field.description.replace('null', '0')} ", name


LOOSE = """\
max_iterations: 500
max_replans: 1
budget_usd: null
budget_tokens: 9
verification_policy: none
checks: [{name: own, run: "true"}]
reply_format: text
"""


def test_what_is_not_committed_only_tightens(repo: Repo, caplog: pytest.LogCaptureFixture) -> None:
    """A model's write moves no limit of the next run (finding M7)."""
    repo.write(".ahp/agent.yaml", LOOSE)
    assert load_config(str(repo.root)).max_iterations == 500  # nothing is committed yet
    strict = "max_iterations: 30\nmax_replans: 2\nbudget_usd: 5\ntool_timeout_s: 9\n"
    repo.commit("settings", **{".ahp/agent.yaml": strict})
    repo.write(".ahp/agent.yaml", LOOSE)
    found = load_config(str(repo.root))
    assert (found.max_iterations, found.max_replans, found.budget_usd, found.budget_tokens) == (30, 1, 5, 9)
    assert (found.verification_policy, found.checks, found.tool_timeout_s) == (None, (), 9)
    assert found.reply_format == "text"
    assert "loosens max_iterations, tool_timeout_s, checks" in caplog.text
    (repo.root / ".ahp/agent.yaml").unlink()
    assert load_config(str(repo.root)).max_iterations == 20
    repo.commit("loose", **{".ahp/agent.yaml": LOOSE})
    assert load_config(str(repo.root)).max_iterations == 500


def test_a_committed_file_that_is_wrong_is_told_as_such(repo: Repo) -> None:
    repo.commit("settings", **{".ahp/agent.yaml": "max_iteration: 3\n"})
    repo.write(".ahp/agent.yaml", "max_iterations: 3\n")
    with pytest.raises(AhpError, match=r"HEAD:\.ahp/agent\.yaml:1:"):
        load_config(str(repo.root))


def test_a_committed_file_that_is_empty_binds_and_one_that_git_cannot_read_is_an_error(repo: Repo) -> None:
    repo.commit("settings", **{".ahp/agent.yaml": ""})
    repo.write(".ahp/agent.yaml", LOOSE)
    assert load_config(str(repo.root)).max_iterations == AgentConfig().max_iterations
    blob = repo.git("rev-parse", "HEAD:.ahp/agent.yaml")
    (repo.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(AhpError):
        load_config(str(repo.root))


def test_every_setting_is_a_limit_or_has_its_way() -> None:
    for name, value in AgentConfig():
        ways = [name in _FREE, name in _AS_COMMITTED, type(value) in (int, float) or value is None]
        assert any(ways), name
