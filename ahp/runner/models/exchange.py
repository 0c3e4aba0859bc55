"""One exchange with a model's server: within its time, its size, and with errors that hold no key."""

import asyncio
import email.utils
import importlib
import json
import math
import re
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from ahp.protocol.text import one_line
from ahp.runner.config import ReplyFormat
from ahp.runner.models.endpoint import BASE_URL, KEY, MODEL, Endpoint, endpoint, key_of, row
from ahp.runner.models.model import ContextOverflow, Model, ModelError, NativeCall
from ahp.system import installed, jsontext, wings
from ahp.system.deadline import awaited, within
from ahp.system.errors import AhpError

T = TypeVar("T")

_LARGEST = 32 << 20  # bytes of a reply
_LARGEST_ERROR = 1 << 20  # bytes that are read of one with an error; its status tells the rest
_MOST = 1 << 53  # tokens or dollars; what is more is no count
_LONGEST = 300  # characters of a server's error
_SHORTEST_KEY = 8  # what is shorter is no key, and may stand in any text
_USER_INFO = re.compile(r"(?<=//)[^/@\s\"'<>]+@")
_TRANSIENT = (408, 409, 425, 429)  # and what a server, or a proxy before it, tells of itself: 5xx
_NEVER = (501, 505)
_OVERFLOW = re.compile(
    r"context[ _-]?(?:length|size|window|limit|overflow)|exceed_context|maximum context|max_model_len|"
    r"(?:prompt|input|request)(?: is| was)? too (?:long|large)|too many (?:input )?tokens|maximum prompt length|"
    r"token count[^.]{0,40} exceeds|exceed(?:s|ed)? (?:the )?(?:model )?token limit|token limit exceeded",
    re.IGNORECASE,
)
_REPLIES = frozenset({"choices", "content", "data"})  # keys of what is no error
# Without one of these headers a reply ends where the connection does, also where that broke.
_TELLS_ITS_END = frozenset({"content-length", "transfer-encoding"})
_JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
_STREAM = "text/event-stream"
# What a server says of a request that it will never take as it is, also with status 500.
_REFUSED = re.compile(r"role|template|jinja|tool|grammar|schema|response_format|max_completion_tokens", re.IGNORECASE)


class Refused(ModelError):
    """The server does not take the request in this form; another form may do."""


def library(name: str, extra: str = "runner") -> Any:
    """A package that an extra of ahp has. Raises AhpError with what installs it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        missing = error.name or name
        how = installed.command(extra)
        raise AhpError(f"this needs the Python package {missing}, which is not installed: {how}") from None


# (path, JSON or None to get what is there) → the JSON value that a request is answered with
Send = Callable[[str, Mapping[str, Any] | None], Awaitable[Any]]


# (what a streamed reply is so far, its next part) → the text that the part says. The whole gets `ended` by the last.
Join = Callable[[dict[str, Any], Mapping[str, Any]], str]


class Exchange:
    """Requests to one endpoint with one key, which is in nothing that comes back from it.

    `join` puts a streamed reply together, and `tell`, where there is one, hears its text as it comes.
    """

    def __init__(self, to: Endpoint, key: str | None, model: str, join: Join | None = None) -> None:
        self.to = to
        self.key = key
        self.tell: Callable[[str], object] | None = None
        self._join = join
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = WeakKeyDictionary()
        self.who = f"the model {one_line(model, 80)} at {to.base_url}"
        self._api = row(to.api)
        self._httpx = library("httpx2")
        self._secrets = [key] if key and len(key) >= _SHORTEST_KEY else []

    def within(self, timeout_s: float, talk: Callable[[Send], Awaitable[T]]) -> T:
        """What `talk` returns, which may send several requests; at `timeout_s` the one that is open is closed.

        Raises Timeout, ModelError, ContextOverflow, Refused.
        """
        answer: Any = talk(lambda path, request: self._body(path, request, timeout_s))
        return cast(T, awaited(answer, timeout_s, self.who))

    async def _client(self) -> Any:
        """The client of this thread, whose connection one request after the other uses."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            kept = self._kept()
            self._clients[loop] = kept, await anext(kept)
        return self._clients[loop][1]

    async def _kept(self) -> AsyncIterator[Any]:
        """A client until its event loop closes: no redirects (the key would go along), no proxy to this machine.

        Raises ModelError for unusable settings.
        """
        name, scheme = self._api.auth
        try:
            client = self._httpx.AsyncClient(
                trust_env=not self.to.is_local,
                # Certificates take longer to load than a local server to answer, and here none is ever looked at.
                verify=not (self.to.is_local and self.to.base_url.startswith("http:")),
                headers={**self._api.headers, **({name: scheme + self.key} if self.key else {})},
            )
        except Exception as error:  # noqa: BLE001  # such as a proxy's address, which may hold a password
            raise self._broken(error) from None
        async with client:
            yield client

    async def _body(self, path: str, request: Mapping[str, Any] | None, timeout_s: float) -> Any:
        method = "GET" if request is None else "POST"
        data = None
        if request is not None:
            data = json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        url, client = f"{self.to.base_url}{self._api.adds}{path}", await self._client()
        try:
            async with client.stream(method, url, content=data, headers=_JSON, timeout=timeout_s) as response:
                if self._join and response.is_success and _STREAM in response.headers.get("content-type", ""):
                    return await self._streamed(response, self._join)
                limit = _LARGEST if response.is_success else _LARGEST_ERROR
                data = await _up_to(limit, response.aiter_bytes())
        except (asyncio.CancelledError, ModelError):
            raise
        except Exception as error:  # noqa: BLE001  # the HTTP library and the proxy settings have no common class
            raise self._broken(error) from None
        if not response.is_success:
            text = data.decode("utf-8-sig", "replace")
            try:
                said: object = jsontext.decode(text)
            except ValueError:
                said = text.strip()
            raise self._refusal(response.status_code, said, response.headers)
        if len(data) > _LARGEST:
            raise ModelError(f"{self.who} answered with more than {_LARGEST >> 20} MB")
        if not data.strip():
            raise ModelError(f"{self.who} answered with an empty body", transient=True)
        try:
            value = jsontext.decode(data.decode("utf-8-sig", "replace"))
        except ValueError:
            begin = self.clean(one_line(data[:_LONGEST].decode("utf-8", "replace"), 100))
            cut = data.lstrip()[:1] == b"{" and not response.headers.keys() & _TELLS_ITS_END
            raise ModelError(f"{self.who} answered with no JSON: {begin!r}", transient=cut) from None
        if isinstance(value, dict) and value.get("error") and not value.keys() & _REPLIES:
            raise self.failed(value, response.headers)
        return value

    async def _streamed(self, response: Any, join: Join) -> dict[str, Any]:
        """A reply that comes in parts, as a whole."""
        whole: dict[str, Any] = {}
        size = 0
        async for event in self._httpx.EventSource(response):
            size += len(event.data)
            if size > _LARGEST:
                raise ModelError(f"{self.who} answered with more than {_LARGEST >> 20} MB")
            if event.data == "[DONE]":
                break
            try:
                part: Any = jsontext.decode(event.data)
                said = "" if part.get("error") else join(whole, part)
            except (ValueError, LookupError, TypeError, AttributeError):
                raise ModelError(f"{self.who} streamed what is no part of a reply: {self.shown(event.data)}") from None
            if part.get("error"):
                raise self.failed(part)
            if said and self.tell is not None:
                self.tell(self.clean(said))
        if "ended" not in whole:
            raise ModelError(f"{self.who} broke its reply off", transient=True)
        return whole

    def models(self, timeout_s: float) -> list[dict[str, Any]]:
        """What the server lists as its models, within that time. Raises ModelError, Timeout."""
        asked = partial(self.within, timeout_s, lambda send: send("/models", None))
        body = within(timeout_s, asked, self.who)  # in a thread of its own, which leaves no connection
        found = body.get("data") if isinstance(body, dict) else None
        return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []

    def failed(self, body: Mapping[str, Any], headers: Any = None) -> ModelError:
        """The `error` that a reply of status 200 holds in place of an answer, or beside half of one.

        Its code is a status where it is one (OpenRouter), else it may pass.
        """
        inner = body.get("error")
        code = inner.get("code") if isinstance(inner, dict) else None
        if isinstance(code, int) and 400 <= code < 600:
            return self._refusal(code, body, headers or {})
        said = _message(body)
        if _OVERFLOW.search(said):
            return ContextOverflow(f"{self.who}: {self.shown(said)}")
        hint = self._hint()  # LM Studio answers so where there is nothing
        return ModelError(f"{self.who} answered with an error: {self.shown(said)}{hint}", transient=not hint)

    def call(self, name: object, args: object, call_id: object) -> NativeCall:
        """A call beside the text. One without a name stays one: the model hears that there is no such tool."""
        named, known = (self.clean(one) if isinstance(one, str) else "" for one in (name, call_id))
        if isinstance(args, dict):
            return NativeCall(named, args, known)
        # Nothing is an empty object, anything else the text that should be one.
        text = args if isinstance(args, str) else "" if args is None else json.dumps(args)
        return NativeCall(named, self.clean(text) if text.strip() else {}, known)

    def own(self, calls: Sequence[NativeCall], reply: object) -> dict[str, Any] | None:
        """A reply with calls as this interface has it, for the next request."""
        if not calls:
            return None
        kept = jsontext.decode(self.clean(jsontext.encode(reply)))
        return {"api": self.to.api, "ids": [call.id for call in calls], "reply": kept}

    def clean(self, text: str) -> str:
        """Text from a server or a library without keys, passwords of addresses, and halves of characters."""
        for secret in self._secrets:
            text = text.replace(secret, "…")
        return text.encode("utf-8", "replace").decode()

    def shown(self, text: object) -> str:
        """Such text on one line of an error."""
        return _USER_INFO.sub("…@", self.clean(one_line(text, _LONGEST)))

    def _refusal(self, status: int, body: object, headers: Any) -> ModelError:
        said = _message(body)
        shown = self.shown(said) or f"HTTP status {status}"
        if status in (401, 403):
            if not self.key:
                return ModelError(f"{self.who} wants a key; put it into {KEY}: {shown}")
            places = ", ".join(filter(None, (KEY, self._api.key)))
            return ModelError(f"{self.who} refuses the key (of {places} or the keyring): {shown}")
        if status == 413 or _OVERFLOW.search(said):
            return ContextOverflow(f"{self.who}: {shown}")
        if status == 404:
            return ModelError(f"{self.who} is not there: {shown}{self._hint()}")
        if 300 <= status < 400:
            return ModelError(f"{self.who} is elsewhere (HTTP status {status}): give its own address")
        if status in (400, 405, 415, 422, 501) or (status == 500 and _REFUSED.search(said)):
            return Refused(f"{self.who} refuses the request: {shown}")
        passing = status in _TRANSIENT or (500 <= status < 600 and status not in _NEVER)
        transient = passing and "insufficient_quota" not in said
        return ModelError(
            f"{self.who} cannot answer now (HTTP status {status}): {shown}",
            transient=transient,
            retry_after_s=_retry_after(headers) if transient else None,
        )

    def _hint(self) -> str:
        """What may be wrong with an address where nobody is: its interface adds /v1 itself, or does not."""
        path = urlsplit(self.to.base_url).path.rstrip("/")
        if adds := self._api.adds:
            return f"; its address ends before {adds}" if path.endswith(adds) else ""
        return "" if path else "; does its address end with /v1?"

    def _broken(self, error: Exception) -> ModelError:
        """A server that is not there, a connection that broke, or a request that cannot be made at all."""
        root = _root(error)
        if not isinstance(error, OSError) and type(error).__module__.partition(".")[0] != "httpx2":
            return ModelError(f"{self.who} cannot be asked: {type(error).__name__}: {self.shown(error)}")
        why = self.shown(root).rstrip(".") or type(error).__name__
        if isinstance(root, ssl.SSLCertVerificationError) or getattr(root, "reason", "") == "WRONG_VERSION_NUMBER":
            asked = "Is its certificate trusted here, and is it https at all?"
            return ModelError(f"no secure connection to {self.who}: {why}. {asked}")
        return ModelError(f"no answer from {self.who}: {why}. Is the server running?", transient=True)


class Served:
    """One model of one server, which is asked by its `exchange`."""

    def __init__(self, name: str, to: Endpoint, key: str | None, join: Join) -> None:
        self.name, self.endpoint = name, to
        self._exchange = Exchange(to, key, name, join)

    def show(self, tell: Callable[[str], object]) -> None:
        """Has `tell` hear the text of replies as it comes."""
        self._exchange.tell = tell


def _message(body: object) -> str:
    """What an error's body says, with the codes that tell what kind of error it is."""
    if isinstance(body, dict):
        inner = body.get("error", body)
        if isinstance(inner, dict):
            parts = [inner.get(name) for name in ("message", "detail", "code", "type", "param")]
            return " ".join(str(part) for part in parts if isinstance(part, str | int)) or json.dumps(body)[:2000]
        return str(inner)
    return body if isinstance(body, str) else ""


async def _up_to(limit: int, parts: AsyncIterator[bytes]) -> bytes:
    """A body, of a longer one as much as tells that it has more than `limit` bytes."""
    read, size = [], 0
    async for part in parts:
        read.append(part)
        size += len(part)
        if size > limit:
            break
    return b"".join(read)


def _root(error: BaseException) -> BaseException:
    while error.__cause__ is not None or error.__context__ is not None:
        error = error.__cause__ or error.__context__ or error
    return error


def _retry_after(headers: Any) -> float | None:
    """Seconds that a server asks to wait for: a number, or the date of RFC 9110."""
    value = str(headers.get("retry-after") or "").strip()
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def count(value: object) -> int | None:
    """A number of tokens as a server reports it; None for anything else, also for the 0 of one that does not count."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _MOST else None


def price(value: object) -> float | None:
    """A price in US dollars as a server reports it; None for anything else."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < _MOST:
        return None
    return float(value)


def texts(content: object, kinds: Iterable[str] = ("text", "output_text")) -> str:
    """The text of a reply whose content is a text, parts, or nothing; thoughts among the parts are no text."""
    if isinstance(content, str):
        return content
    found = []
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            found.append(part)
        elif isinstance(part, dict) and part.get("type", "text") in kinds and isinstance(part.get("text"), str):
            found.append(part["text"])
    return "".join(found)


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
    key = key_of(to, env)
    model = model or _only_model(to, key)
    made: Model = wings.load(row(to.api).model, "models")(model, to, key, reply_format)
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
