"""Tools and resources of MCP servers, by the official SDK (modelcontextprotocol.io): each call passes the gate.

A server is asked from one thread with an event loop of its own. What it says of itself (names, descriptions,
annotations) comes from outside: it is told and judged, and nothing is allowed for it.
"""

import asyncio
import concurrent.futures
import re
import tempfile
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pydantic import BaseModel, ConfigDict

from ahp.facts.tool import Touched
from ahp.protocol.text import failure, one_line
from ahp.runner.config import McpServer
from ahp.runner.models.exchange import library
from ahp.runner.tools.tool import AGENT, FunctionTool, Tool, tool_environment
from ahp.system.errors import AhpError, Timeout

_START_TIME, _END_TIME = 30.0, 10.0  # s
_MOST, _LISTED = 200, 20  # tools; resources that are named


@contextmanager
def connected(servers: Mapping[str, McpServer], root: str) -> Iterator[list[Tool]]:
    """The tools of these servers of the project at `root`, which run meanwhile.

    Raises AhpError that names the one that cannot be used.
    """
    if not servers:
        yield []
        return
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="mcp", daemon=True)
    thread.start()
    asked = [_Server(name, server, root, loop) for name, server in servers.items()]
    running = [asyncio.run_coroutine_threadsafe(one.serve(), loop) for one in asked]
    try:
        yield [tool for one in asked for tool in one.tools()]
    finally:
        for one in asked:
            loop.call_soon_threadsafe(one.over.set)
        concurrent.futures.wait(running, _END_TIME)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_END_TIME)


class ResourceArgs(BaseModel):
    uri: str


class _Server:
    def __init__(self, name: str, settings: McpServer, root: str, loop: asyncio.AbstractEventLoop) -> None:
        self._name, self._settings, self._root, self._loop = name, settings, root, loop
        self._client: Any = None
        self._ready: concurrent.futures.Future[list[Tool]] = concurrent.futures.Future()
        self.over = asyncio.Event()

    def tools(self) -> list[Tool]:
        """What it offers. Raises AhpError, Timeout."""
        return list(self._awaited(self._ready, _START_TIME))

    async def serve(self) -> None:
        """Keeps the server until it is `over`; one task enters and leaves it, as the SDK wants."""
        with tempfile.TemporaryFile("w+", errors="replace") as said:
            try:
                async with self._connection(said) as self._client:
                    self._ready.set_result([tool async for tool in self._listed()])
                    await self.over.wait()
            except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  # a server is outside code
                said.seek(0)
                last = one_line("".join(said.readlines()[-1:]), 300)
                why = f"{_reason(error)}{f'; it said last: {last}' if last else ''}"
                if not self._ready.done():  # else who calls it hears of it
                    self._ready.set_exception(AhpError(why))

    def _connection(self, said: Any) -> Any:
        mcp = library("mcp", "mcp")
        if self._settings.url:
            return mcp.Client(self._settings.url, cache=None)
        command, *args = self._settings.command
        env = tool_environment(AGENT)
        given = {name: env[name] for name in ("AHP_AGENT", *self._settings.env) if name in env}
        started = mcp.StdioServerParameters(command=command, args=args, env=given, cwd=self._root)
        return mcp.Client(mcp.stdio_client(started, errlog=said), cache=None)

    async def _listed(self) -> Any:
        """The server's tools, and one that reads its resources, where it has some."""
        has, cursor, found = self._client.server_capabilities, None, list[Any]()
        while has.tools is not None and len(found) < _MOST:
            page = await self._client.list_tools(cursor=cursor)
            found, cursor = [*found, *page.tools], page.next_cursor
            if cursor is None:
                break
        for one in found[:_MOST]:
            yield self._tool(one)
        if has.resources is not None:
            listed = (await self._client.list_resources()).resources[:_LISTED]
            named = ", ".join(f"{one_line(one.uri, 200)} ({one_line(one.name, 80)})" for one in listed)
            said = f"Reads a resource by its URI: {named or 'none is listed'}"
            yield self._made("read_resource", said, ResourceArgs, lambda it: self._client.read_resource(it.uri), _read)

    def _tool(self, told: Any) -> FunctionTool:
        schema = {key: value for key, value in told.input_schema.items() if key not in ("title", "$schema")}

        class Args(BaseModel):
            model_config = ConfigDict(extra="allow")

            @classmethod
            def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
                """What the server says: it validates its arguments itself."""
                return schema

        said = told.description or told.title or told.name
        made = self._made(told.name, said, Args, lambda given: self._client.call_tool(told.name, dict(given)))
        hints = ((name, value) for name, value in told.annotations or () if isinstance(value, bool))
        made.annotations |= {name.removesuffix("_hint"): value for name, value in hints}
        return made

    def _made(
        self,
        name: str,
        description: str,
        args: type[BaseModel],
        ask: Callable[[Any], Coroutine[Any, Any, Any]],
        touched: Callable[[Any], Touched] | None = None,
    ) -> FunctionTool:
        made = FunctionTool(
            re.sub(r"[^\w-]", "_", f"mcp__{self._name}__{name}", flags=re.ASCII)[:64],  # what providers take
            one_line(description, 1_000),
            args,
            lambda given, context: self._told(ask(given), context.timeout_s),
            writes=touched is None,  # a hint of the server's is no proof that it does not
            kind="mcp",
            touched=touched,
        )
        made.annotations = {"read_only": touched is not None, "destructive": touched is None, "open_world": True}
        return made

    def _told(self, request: Coroutine[Any, Any, Any], seconds: float) -> str:
        """What a request is answered, as text. Raises AhpError, Timeout."""
        answer = self._awaited(asyncio.run_coroutine_threadsafe(request, self._loop), seconds)
        parts: list[Any] = getattr(answer, "contents", None) or getattr(answer, "content", None) or []
        text = "\n".join(map(_text, parts))
        if getattr(answer, "is_error", False):
            raise AhpError(text or f"the MCP server {self._name} answers with an error and gives no reason")
        return text

    def _awaited(self, future: "concurrent.futures.Future[Any]", seconds: float) -> Any:
        try:
            return future.result(seconds)
        except concurrent.futures.TimeoutError:
            future.cancel()
            raise Timeout(f"the MCP server {self._name} did not answer within {seconds:g} s") from None
        except (Exception, concurrent.futures.CancelledError) as error:  # noqa: BLE001  # a server is outside code
            raise AhpError(f"the MCP server {self._name} cannot be used: {_reason(error)}") from None


def _read(args: ResourceArgs) -> Touched:
    """A resource that is a file is judged as one."""
    return Touched(paths=[args.uri.removeprefix("file://")] if args.uri.startswith("file://") else ())


def _text(part: Any) -> str:
    """A part of an answer: its text, else what it is."""
    held = getattr(part, "resource", part)
    kind = getattr(held, "mime_type", None) or type(held).__name__
    return str(getattr(held, "text", f"({kind}: {getattr(held, 'uri', 'no text')})"))


def _reason(error: BaseException) -> str:
    """What was wrong at the bottom of groups of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return one_line(str(error), 500) if isinstance(error, AhpError) else one_line(failure(error), 500)
