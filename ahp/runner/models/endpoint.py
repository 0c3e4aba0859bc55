"""Where a model is asked: its interface, the address of its server, and the key for it.

Interfaces are one row each; packages add rows by the entry point `ahp.models` (docs/extending.md).

All of it comes from the person (options, environment, keyring), never from a file of the project: a pull request that
changes a file could else send the project and the key elsewhere.
"""

import ipaddress
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple
from urllib.parse import urlsplit

from ahp.protocol.text import one_line
from ahp.system import wings
from ahp.system.deadline import within
from ahp.system.errors import AhpError

KEY = "AHP_API_KEY"  # goes to whatever address the person named


class Api(NamedTuple):
    """All that is known of an interface. Texts may be empty where it has no such thing.

    `model` is the place (`module:Class`) of what is called as `Class(name, endpoint, key, reply_format)` and is a
    `Model`. `address` is the company's own, `adds` what stands between an address and the paths of the interface,
    `auth` the header that carries a key and what stands before it there, `headers` are further ones: these are for what
    asks through `Exchange`. `base_url` and `key` name variables of the environment. `prefix` begins the names of the
    company's models.
    """

    model: str
    address: str = ""
    adds: str = ""
    auth: tuple[str, str] = ("Authorization", "Bearer ")
    headers: Mapping[str, str] = {}
    base_url: str = ""
    key: str = ""
    prefix: str = ""


# The first one is spoken by a server of which nothing else is known.
APIS = {
    "openai": Api(
        model="ahp.runner.models.openai_chat:OpenAIModel",
        address="https://api.openai.com/v1",
        base_url="OPENAI_BASE_URL",
        key="OPENAI_API_KEY",
    ),
    "anthropic": Api(
        model="ahp.runner.models.anthropic_messages:AnthropicModel",
        address="https://api.anthropic.com",
        adds="/v1",
        auth=("x-api-key", ""),
        headers={"anthropic-version": "2023-06-01"},
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
        raise AhpError(f"{one_line(name)!r} is no interface that ahp supports; use one of {', '.join(names())}")
    found = wings.load(place, "models")
    if not isinstance(found, Api):
        raise AhpError(f"{place}, which a package adds to ahp.models, is no {Api.__module__}.Api")
    return found


def key_variables() -> list[str]:
    """The variables that may hold a key: no program of a run gets them."""
    return [KEY, *(key for name in names() if (key := row(name).key))]


MODEL, BASE_URL, API = "AHP_MODEL", "AHP_BASE_URL", "AHP_MODEL_API"
_SERVICE = "ahp"  # in the keyring; the user name there is the host of the address
_KEYRING_TIME = 30.0  # s; a keyring may ask the person

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Endpoint:
    """The interface that a server speaks and its address, which never holds a key."""

    api: str
    base_url: str

    @property
    def official(self) -> bool:
        """Whether it is the address of the company that the interface is named after."""
        return _host(self.base_url) == _host(row(self.api).address)

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine: then no proxy of the environment is asked."""
        host = _host(self.base_url) or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost" or host.endswith(".localhost")

    @property
    def unpriced(self) -> float | None:
        """The price in US dollars of a reply that tells none: nothing on this machine, elsewhere not known."""
        return 0.0 if self.is_local else None


def endpoint(base_url: str | None, api: str | None, model: str | None, env: Mapping[str, str]) -> Endpoint:
    """The endpoint that options and environment name.

    Where neither says which interface the server speaks: the one whose company has that address or, without one, such
    models; else OpenAI's, which local servers speak. Raises AhpError for what is no address.
    """
    base_url, api = base_url or env.get(BASE_URL), api or env.get(API)
    api = api or next((name for name in names() if _meant(name, base_url, model or "")), next(iter(APIS)))
    known = row(api)
    return Endpoint(api, checked(base_url or env.get(known.base_url) or known.address, api))


def _meant(api: str, base_url: str | None, model: str) -> bool:
    known = row(api)
    if base_url:
        return _host(base_url) == _host(known.address)
    return bool(known.prefix) and model.startswith(known.prefix)


def _host(address: str) -> str | None:
    return urlsplit(address).hostname


def checked(base_url: str, api: str) -> str:
    """The address as it is used and written down. Raises AhpError for what is none, or what may hold a key."""
    try:
        parts = urlsplit(base_url.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not base_url.strip().isprintable():
        raise AhpError("the address of the model is no http or https address, such as http://127.0.0.1:8080/v1")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise AhpError(
            "the address of the model may hold no user, password or query: it is written down with the run. "
            f"Put the key into {KEY}."
        )
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix(row(api).adds)}"


def key_of(to: Endpoint, env: Mapping[str, str]) -> str | None:
    """The key for an endpoint, from the environment or the keyring; None when there is none.

    AHP_API_KEY goes to whatever address the person named. A company's own, such as OPENAI_API_KEY, goes only to the
    company's address or to the one that OPENAI_BASE_URL and the like name beside it. In the keyring a key is the
    password of the service `ahp` for the host: `keyring set ahp HOST`. Raises AhpError for the company's own address
    without a key, where it wants one.
    """
    known = row(to.api)
    key = env.get(KEY)
    theirs = env.get(known.base_url)
    if not key and (to.official or (theirs and checked(theirs, to.api) == to.base_url)):
        key = env.get(known.key)
    if not key and not to.is_local:
        key = _from_keyring(urlsplit(to.base_url).netloc)
    if not key and to.official and known.key:
        host = urlsplit(to.base_url).netloc
        raise AhpError(f"no key for {to.base_url}: put it into {known.key}, or run `keyring set ahp {host}`")
    return key.strip() if key else None


def _from_keyring(host: str) -> str | None:
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return None
    try:
        return within(_KEYRING_TIME, lambda: keyring.get_password(_SERVICE, host), "the keyring")
    except (KeyringError, AhpError) as error:
        _log.debug("the keyring gave no key for %s: %s", host, type(error).__name__)
        return None
