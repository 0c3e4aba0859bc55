"""The interfaces of models: one row each; packages add rows by the entry point `ahp.models` (docs/extending.md)."""

from functools import cache
from typing import NamedTuple

from ahp.protocol.text import one_line
from ahp.system import wings
from ahp.system.errors import AhpError

KEY = "AHP_API_KEY"  # goes to whatever address the person named


class Api(NamedTuple):
    """All that is known of an interface. Texts may be empty where it has no such thing.

    `model` is the place (`module:Class`) of what is called as `Class(name, endpoint, key, reply_format)` and is a
    `Model`; `client` the place of the SDK's asynchronous client, for what asks through `Exchange`. `address` is the
    company's own, `adds` the end of an address that the SDK adds itself. `base_url` and `key` name variables of the
    environment. `prefix` begins the names of the company's models.
    """

    model: str
    client: str = ""
    address: str = ""
    adds: str = ""
    base_url: str = ""
    key: str = ""
    prefix: str = ""


# The first one is spoken by a server of which nothing else is known.
APIS = {
    "openai": Api(
        model="ahp.runner.models.openai_chat:OpenAIModel",
        client="openai:AsyncOpenAI",
        address="https://api.openai.com/v1",
        base_url="OPENAI_BASE_URL",
        key="OPENAI_API_KEY",
    ),
    "anthropic": Api(
        model="ahp.runner.models.anthropic_messages:AnthropicModel",
        client="anthropic:AsyncAnthropic",
        address="https://api.anthropic.com",
        adds="/v1",
        base_url="ANTHROPIC_BASE_URL",
        key="ANTHROPIC_API_KEY",
        prefix="claude",
    ),
}


def names() -> list[str]:
    """The interfaces that ahp and installed packages speak."""
    return [*APIS, *(name for name in wings.added("models") if name not in APIS)]


@cache
def row(name: str) -> Api:
    """What is known of an interface. Raises AhpError for an unknown one, or a row that cannot be imported."""
    if name in APIS:
        return APIS[name]
    place = wings.added("models").get(name)
    if place is None:
        raise AhpError(f"{one_line(name)!r} is no interface that ahp speaks; one of {', '.join(names())}")
    found = wings.load(place, "models")
    if not isinstance(found, Api):
        raise AhpError(f"{place}, which a package adds to ahp.models, is no {Api.__module__}.Api")
    return found


def key_variables() -> list[str]:
    """The variables that may hold a key: no program of a run gets them."""
    return [KEY, *(key for name in names() if (key := row(name).key))]
