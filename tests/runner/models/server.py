"""A server on loopback that plays what it is told, on real sockets: replies, resets, dribbles, silence."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, BinaryIO

LONG = 600.0  # s that a test waits for what must happen, be it the import of an SDK; only a failure takes so long


@dataclass(frozen=True)
class Request:
    """One request as the server read it."""

    path: str
    headers: dict[str, str]
    body: Any


Play = Callable[["Server", socket.socket], None]


class Server:
    """Answers its requests in turn with `plays`, the last one again and again."""

    def __init__(self, plays: Iterable[Play]) -> None:
        self._plays = list(plays)
        self.requests: list[Request] = []
        self.cut = threading.Event()
        """The client has closed a connection on which something was still to come, or before it had asked."""
        self.connected = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.stopped = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopped.set()
        self._listening.shutdown(socket.SHUT_RDWR)  # wakes the thread, which closing does not
        self._listening.close()

    def _serve(self) -> None:
        while not self.stopped.is_set():
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self.connected.set()
            threading.Thread(target=self._converse, args=(connection,), daemon=True).start()

    def _converse(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as stream:
            try:
                request = _read(stream)
                self.requests.append(request)
                self._plays[min(len(self.requests), len(self._plays)) - 1](self, connection)
            except (OSError, EOFError):
                self.cut.set()


def _read(stream: BinaryIO) -> Request:
    """The next request. Raises EOFError when the client goes away before its end."""
    lines = []
    while (line := stream.readline()) != b"\r\n":
        if not line.endswith(b"\n"):
            raise EOFError
        lines.append(line.decode().strip())
    parts = [header.partition(":") for header in lines[1:]]
    headers = {name.lower(): value.strip() for name, _, value in parts}
    length = int(headers.get("content-length", "0"))
    body = stream.read(length)
    if len(body) < length:
        raise EOFError
    return Request(lines[0].split()[1], headers, json.loads(body) if body else None)


def says(value: object, status: int = 200, **headers: str) -> Play:
    """A whole response; `value` is its JSON, or its body as bytes."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()

    def play(server: Server, connection: socket.socket) -> None:
        lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Content-Type: application/json"]
        lines += [f"{name.replace('_', '-')}: {given}" for name, given in headers.items()]
        connection.sendall("\r\n".join([*lines, "Connection: close", "", ""]).encode() + body)

    return play


def sends(sent: bytes) -> Play:
    """`sent`, then the end of the connection."""

    def play(server: Server, connection: socket.socket) -> None:
        connection.sendall(sent)

    return play


def endless(sent: bytes) -> Play:
    """`sent`, then as much as the client takes, for ever."""

    def play(server: Server, connection: socket.socket) -> None:
        connection.sendall(sent)
        while not server.stopped.is_set():
            connection.sendall(b"x" * (1 << 16))

    return play


def resets(sent: bytes = b"") -> Play:
    """A connection that breaks after `sent`."""

    def play(server: Server, connection: socket.socket) -> None:
        connection.sendall(sent)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return play


def hangs(server: Server, connection: socket.socket) -> None:
    """Nothing, until the client goes away."""
    connection.settimeout(LONG)
    if connection.recv(1) == b"":
        server.cut.set()


def dribbles(sent: bytes) -> Play:
    """`sent`, then a byte every few milliseconds for ever: no read waits long, the response never ends."""

    def play(server: Server, connection: socket.socket) -> None:
        connection.sendall(sent)
        while not server.stopped.wait(0.005):
            connection.sendall(b" ")

    return play


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"


def chat(content: object = "hello", finish: str = "stop", usage: object = None, **message: object) -> dict[str, object]:
    """A chat completion."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    return {"id": "1", "object": "chat.completion", "choices": [choice], "usage": usage}


def error(message: str, **more: object) -> dict[str, object]:
    return {"error": {"message": message, **more}}
