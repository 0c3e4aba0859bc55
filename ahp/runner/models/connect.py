"""The model that a person names, ready to be asked."""

from collections.abc import Mapping

from ahp.protocol.text import one_line
from ahp.runner.config import ReplyFormat
from ahp.runner.models.endpoint import BASE_URL, MODEL, Endpoint, endpoint, key_of, row
from ahp.runner.models.exchange import Exchange, sdk
from ahp.runner.models.model import Model
from ahp.system import wings
from ahp.system.errors import AhpError

_LISTING_TIME = 20.0


def connect(
    model: str | None,
    base_url: str | None = None,
    api: str | None = None,
    *,
    env: Mapping[str, str],
    reply_format: ReplyFormat = "auto",
) -> Model:
    """The model of that name, else of AHP_MODEL, else the only one of the server whose address is given.

    Raises AhpError when it is not clear which one is meant, when the key or the package for it is missing.
    """
    model = model or env.get(MODEL)
    to = endpoint(base_url, api, model, env)
    if not model and to.official:
        raise AhpError(f"which model? Name it with --model or {MODEL}, its server with --base-url or {BASE_URL}")
    known = row(to.api)
    if known.client:
        sdk(known.client.partition(":")[0])
    key = key_of(to, env)
    if not model:
        if not known.client:
            raise AhpError(f"which model? Name it with --model or {MODEL}")
        model = _only_model(to, key)
    made: Model = wings.load(known.model, "models")(model, to, key, reply_format)
    return made


def _only_model(to: Endpoint, key: str | None) -> str:
    """The model that a server has, when it has one."""
    exchange = Exchange(to, key, "of this server")
    items = exchange.models(_LISTING_TIME)
    names = [exchange.clean(item["id"]) for item in items if isinstance(item.get("id"), str)]
    if len(names) == 1:
        return names[0]
    known = f"{to.base_url} has {one_line(', '.join(names), 300)}" if names else f"{to.base_url} names none"
    raise AhpError(f"which model? Name it with --model: {known}")
