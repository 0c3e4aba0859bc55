"""Where a model is asked: its interface, the address of its server, and the key for it.

All of it comes from the person (options, environment, keyring), never from a file of the project: a pull request that
changes a file could else send the project and the key elsewhere.
"""

import ipaddress
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args
from urllib.parse import urlsplit

from ahp.protocol.text import one_line
from ahp.runner.tools.environment import KEY_VARIABLES
from ahp.system.deadline import within
from ahp.system.errors import AhpError

Api = Literal["openai", "anthropic"]
APIS: tuple[Api, ...] = get_args(Api)

MODEL, BASE_URL, API, KEY = "AHP_MODEL", "AHP_BASE_URL", "AHP_MODEL_API", KEY_VARIABLES[0]
_OWN_KEYS: dict[Api, str] = {"openai": KEY_VARIABLES[1], "anthropic": KEY_VARIABLES[2]}
_OWN_ADDRESSES: dict[Api, str] = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL"}
_OFFICIAL: dict[Api, str] = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
_SERVICE = "ahp"  # in the keyring; the user name there is the host of the address
_KEYRING_TIME = 30.0  # s; a keyring may ask the person

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Endpoint:
    """The interface that a server speaks and its address, which never holds a key."""

    api: Api
    base_url: str

    @property
    def official(self) -> bool:
        """Whether it is the address of the company that the interface is named after."""
        return urlsplit(self.base_url).hostname == urlsplit(_OFFICIAL[self.api]).hostname

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine: then no proxy of the environment is asked."""
        host = urlsplit(self.base_url).hostname or ""
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

    Where neither says which interface the server speaks: Anthropic's for its own address and for models called
    `claude…` without an address, else OpenAI's, which local servers speak. Raises AhpError for what is no address.
    """
    base_url, api = base_url or env.get(BASE_URL), api or env.get(API)
    if not api:
        host = urlsplit(base_url).hostname if base_url else None
        claude = not base_url and (model or "").startswith("claude")
        api = "anthropic" if claude or host == urlsplit(_OFFICIAL["anthropic"]).hostname else "openai"
    for known in APIS:
        if api == known:
            return Endpoint(known, checked(base_url or env.get(_OWN_ADDRESSES[known]) or _OFFICIAL[known], known))
    raise AhpError(f"{one_line(api)!r} is no interface that ahp speaks; one of {', '.join(APIS)}")


def checked(base_url: str, api: Api) -> str:
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
    path = parts.path.rstrip("/")
    if api == "anthropic":
        path = path.removesuffix("/v1")  # the SDK adds it
    return f"{parts.scheme}://{parts.netloc}{path}"


def key_of(to: Endpoint, env: Mapping[str, str]) -> str | None:
    """The key for an endpoint, from the environment or the keyring; None when there is none.

    AHP_API_KEY goes to whatever address the person named. OPENAI_API_KEY and ANTHROPIC_API_KEY go only to the company's
    own address or to the one that OPENAI_BASE_URL or ANTHROPIC_BASE_URL names beside them. In the keyring a key is
    the password of the service `ahp` for the host: `keyring set ahp HOST`. Raises AhpError for the company's own
    address without a key.
    """
    key = env.get(KEY)
    theirs = env.get(_OWN_ADDRESSES[to.api])
    if not key and (to.official or (theirs and checked(theirs, to.api) == to.base_url)):
        key = env.get(_OWN_KEYS[to.api])
    if not key and not to.is_local:
        key = _from_keyring(urlsplit(to.base_url).netloc)
    if not key and to.official:
        host = urlsplit(to.base_url).netloc
        raise AhpError(f"no key for {to.base_url}: put it into {_OWN_KEYS[to.api]}, or run `keyring set ahp {host}`")
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
