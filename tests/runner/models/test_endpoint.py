"""Where a model is asked, and which key goes there."""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Mapping

import pytest

from ahp.runner.models import exchange
from ahp.runner.models.anthropic_messages import AnthropicModel
from ahp.runner.models.endpoint import Endpoint, checked, endpoint, key_of
from ahp.runner.models.exchange import connect
from ahp.runner.models.openai_chat import OpenAIModel
from ahp.system import installed
from ahp.system.errors import AhpError
from tests.runner.models.server import Server, says

OPENAI, CLAUDE = "https://api.openai.com/v1", "https://api.anthropic.com"
BOTH = {"OPENAI_API_KEY": "sk-o", "ANTHROPIC_API_KEY": "sk-a"}


@pytest.mark.parametrize(
    ("base_url", "api", "model", "env", "found"),
    [
        (None, None, "gpt-5", {}, Endpoint("openai", OPENAI)),
        (None, None, "claude-opus", {}, Endpoint("anthropic", CLAUDE)),
        ("http://h:8080/v1/", None, "claude-x", {}, Endpoint("openai", "http://h:8080/v1")),
        ("https://api.anthropic.com/v1", None, None, {}, Endpoint("anthropic", CLAUDE)),
        ("http://h", "anthropic", None, {}, Endpoint("anthropic", "http://h")),
        (None, None, None, {"AHP_BASE_URL": "http://h/v1"}, Endpoint("openai", "http://h/v1")),
        (
            "http://a",
            None,
            None,
            {"AHP_BASE_URL": "http://h", "AHP_MODEL_API": "anthropic"},
            Endpoint("anthropic", "http://a"),
        ),
        (None, None, "m", {"OPENAI_BASE_URL": "http://o/v1"}, Endpoint("openai", "http://o/v1")),
        (None, None, "claude", {"ANTHROPIC_BASE_URL": "http://c/v1"}, Endpoint("anthropic", "http://c")),
    ],
)
def test_the_endpoint_that_is_meant(
    base_url: str | None, api: str | None, model: str | None, env: Mapping[str, str], found: Endpoint
) -> None:
    assert endpoint(base_url, api, model, env) == found


@pytest.mark.parametrize(
    "url", ["h:8080", "ftp://h", "http://", "http://h:99999", "http://h\n/v1", "file:///etc/passwd"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(AhpError, match="no http or https address"):
        checked(url, "openai")


@pytest.mark.parametrize(
    "url", ["http://me:hunter2@h/v1", "http://hunter2@h", "http://h/v1?key=hunter2", "http://h/#hunter2"]
)
def test_an_address_holds_no_key_and_its_refusal_does_not_tell_it(url: str) -> None:
    with pytest.raises(AhpError, match="AHP_API_KEY") as raised:
        checked(url, "openai")
    assert "hunter2" not in str(raised.value)


def test_an_unknown_interface_is_refused() -> None:
    with pytest.raises(AhpError, match="one of openai, anthropic"):
        endpoint(None, "gemini", None, {})


@pytest.mark.parametrize(
    ("to", "env", "key"),
    [
        (Endpoint("openai", OPENAI), BOTH, "sk-o"),
        (Endpoint("anthropic", CLAUDE), BOTH, "sk-a"),
        # The key of a company goes to no other address, unless its own variable names that.
        (Endpoint("openai", "http://127.0.0.1:1/v1"), BOTH, None),
        (Endpoint("openai", "http://127.0.0.1:1/v1"), {**BOTH, "OPENAI_BASE_URL": "http://127.0.0.1:1/v1/"}, "sk-o"),
        (Endpoint("openai", "http://127.0.0.1:1/v1"), {**BOTH, "ANTHROPIC_BASE_URL": "http://127.0.0.1:1/v1"}, None),
        (Endpoint("openai", "http://127.0.0.1:1/v1"), {**BOTH, "AHP_API_KEY": " k\n"}, "k"),
        (Endpoint("openai", OPENAI), {**BOTH, "AHP_API_KEY": "k"}, "k"),
    ],
)
def test_which_key_goes_where(to: Endpoint, env: Mapping[str, str], key: str | None) -> None:
    assert key_of(to, env) == key


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A keyring that knows one host and breaks at another."""

    class KeyringError(Exception):
        pass

    def get_password(service: str, name: str) -> str | None:
        if name == "broken.example":
            raise KeyringError("locked")
        return {("ahp", "h.example:1"): "from the ring"}.get((service, name))

    made, errors = types.ModuleType("keyring"), types.ModuleType("keyring.errors")
    made.get_password, errors.KeyringError = get_password, KeyringError  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", made)
    monkeypatch.setitem(sys.modules, "keyring.errors", errors)
    return made


def test_a_key_from_the_keyring(keyring: types.ModuleType) -> None:
    assert key_of(Endpoint("openai", "https://h.example:1/v1"), {}) == "from the ring"
    assert key_of(Endpoint("openai", "https://h.example:1/v1"), {"AHP_API_KEY": "k"}) == "k"
    assert key_of(Endpoint("openai", "https://broken.example/v1"), {}) is None
    with pytest.raises(AhpError, match=r"keyring set ahp api\.openai\.com"):
        key_of(Endpoint("openai", OPENAI), {})


def test_without_the_package_for_it_there_is_no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert key_of(Endpoint("openai", "https://h.example/v1"), {}) is None


def test_a_missing_package_is_told_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(AhpError, match=re.escape(installed.command("runner"))) as raised:
        connect("m", "http://127.0.0.1:1/v1", env={})
    assert "\n" not in str(raised.value)
    with pytest.raises(AhpError, match="which is not installed"):
        exchange.library("httpx2")


def test_the_only_model_of_a_server_need_not_be_named() -> None:
    with Server([says({"data": [{"id": "tiny"}]})]) as server:
        one = connect(None, f"{server.address}/v1", env={})
        other = connect(None, server.address, "anthropic", env={})
    assert (type(one), one.name, type(other), other.name) == (OpenAIModel, "tiny", AnthropicModel, "tiny")
    assert [request.path for request in server.requests] == ["/v1/models", "/v1/models"]


@pytest.mark.parametrize(
    ("listed", "said"), [([{"id": "a"}, {"id": "b"}], "has a, b"), ([], "names none"), ("x", "names none")]
)
def test_of_several_models_one_has_to_be_named(listed: object, said: str) -> None:
    with Server([says({"data": listed})]) as server, pytest.raises(AhpError, match=said):
        connect(None, f"{server.address}/v1", env={})


def test_the_environment_names_the_model() -> None:
    env = {"AHP_MODEL": "m", "AHP_BASE_URL": "http://127.0.0.1:1/v1"}
    assert connect(None, env=env).name == "m"
    with pytest.raises(AhpError, match="which model"):
        connect(None, env=BOTH)
