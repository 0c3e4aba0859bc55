"""Where a model is asked: its interface, the address of its server, and the key for it.

All of it comes from the person (options, environment, keyring), never from a file of the project: a pull request that
changes a file could else send the project and the key elsewhere.
"""

import ipaddress
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from ahp.runner.models import apis
from ahp.runner.models.apis import KEY
from ahp.system.deadline import within
from ahp.system.errors import AhpError

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
        return _host(self.base_url) == _host(apis.row(self.api).address)

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
    api = api or next((name for name in apis.names() if _meant(name, base_url, model or "")), next(iter(apis.APIS)))
    known = apis.row(api)
    return Endpoint(api, checked(base_url or env.get(known.base_url) or known.address, api))


def _meant(api: str, base_url: str | None, model: str) -> bool:
    known = apis.row(api)
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
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix(apis.row(api).adds)}"


def key_of(to: Endpoint, env: Mapping[str, str]) -> str | None:
    """The key for an endpoint, from the environment or the keyring; None when there is none.

    AHP_API_KEY goes to whatever address the person named. A company's own, such as OPENAI_API_KEY, goes only to the
    company's address or to the one that OPENAI_BASE_URL and the like name beside it. In the keyring a key is the
    password of the service `ahp` for the host: `keyring set ahp HOST`. Raises AhpError for the company's own address
    without a key, where it wants one.
    """
    known = apis.row(to.api)
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
