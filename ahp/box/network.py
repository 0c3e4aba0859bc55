"""The network of a box: the hosts that the policy lists, by name, and the ports that listen inside, for the person.

A process outside, which the keeper starts with the box. What `init` hands out belongs to the network of the box,
whoever holds it: a socket that listens there, the lists of what else listens, and fresh sockets. So the box needs no
route: this process accepts inside and connects outside. HTTP is read and written anew by h11, a message at a time.
"""

import os
import re
import select
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from ahp.box import init

if TYPE_CHECKING:
    import h11

_PORTS = (80, 443)  # of a host that is listed without one
_AUTHORITY = re.compile(rb"([A-Za-z0-9_.-]+)(?::([0-9]{1,5}))?")
_PLAIN = re.compile(rb"http://([^/?#]+)(/[^#]*)", re.IGNORECASE)
# Of one connection, not of the message (RFC 9110, 7.6.1); `expect` is answered here.
_OF_CONNECTION = {b"connection", b"keep-alive", b"te", b"trailer", b"upgrade", b"host", b"expect"}
_LENGTHS = {b"content-length", b"transfer-encoding"}
_MOST = 256  # connections at once
_HEAD, _IDLE = 60, 900  # s that is waited for a request, and for more of a message
_LINGERS = 2  # s that a client may go on talking after its answer
_LOOKS = 0.5  # s between two looks at what listens inside
_LISTENS = "0A"  # a state of /proc/net/tcp


class _Refused(Exception):
    """An answer of the proxy: its status, reason, and a sentence."""


def serve(channel: socket.socket, listed: list[str], door: "Callable[[socket.socket], None] | None") -> None:
    """Until the box ends. `listed` are the names, or `name:port`, of the policy; `door` serves what asks of remotes."""
    _, given, _, _ = socket.recv_fds(channel, 1, 4)
    if not given:
        return  # the box did not start
    proxy, behind, *lists = given
    if door is not None and not os.fork():
        door(socket.socket(fileno=behind))
        os._exit(0)
    hosts = {one.lower() for one in listed}
    threading.Thread(target=_accept, args=(socket.socket(fileno=proxy), hosts), daemon=True).start()
    _Ports(channel, lists).forward()


def connect(listed: set[str], name: str, port: int) -> socket.socket:
    """A connection to a listed host, whose name is resolved here and once: one that is listed with its port may lie
    anywhere, one without in the public network alone. Raises _Refused.
    """
    is_whole = f"{name}:{port}" in listed
    if not is_whole and not (name in listed and port in _PORTS):
        one = name if port in _PORTS else f"{name}:{port}"
        words = f"the policy lists no {one}; a person may add it: `network: [{one}]` in `box` or in the action"
        raise _Refused(403, "Not in network of the policy", words)
    try:
        found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise _Refused(502, "Name not found", f"{name}: {error}") from None
    why = ""
    for family, kind, protocol, _, address in found:
        if not is_whole and not _is_public(str(address[0])):
            why = why or f"{name} is at {address[0]}, no public address; `network: [{name}:{port}]` would allow it"
            continue
        connection = socket.socket(family, kind, protocol)
        try:
            connection.settimeout(_HEAD)
            connection.connect(address)
            connection.settimeout(_IDLE)
            return connection
        except OSError as error:
            connection.close()
            why = f"{name}:{port}: {error}"
    raise _Refused(502, "Not reached", why)


def _is_public(text: str) -> bool:
    import ipaddress

    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
        if inner is not None:
            return inner.is_global and not inner.is_multicast
    return address.is_global and not address.is_multicast


def _accept(listener: socket.socket, listed: set[str]) -> None:
    free = threading.BoundedSemaphore(_MOST)

    def answer(client: socket.socket) -> None:
        try:
            with client:
                _exchange(client, listed)
                client.settimeout(_LINGERS)
                client.shutdown(socket.SHUT_WR)
                while client.recv(1 << 16):
                    pass  # with something unread the close would take the answer back
        except OSError:
            pass  # one of the two is gone
        finally:
            free.release()

    while True:
        free.acquire()
        client, _ = listener.accept()
        threading.Thread(target=answer, args=(client,), daemon=True).start()


def _exchange(client: socket.socket, listed: set[str]) -> None:
    """One request and its answer; then the connection is closed, with whatever else it says."""
    import h11

    client.settimeout(_HEAD)
    inner = h11.Connection(h11.SERVER)
    try:
        request = _event(inner, client)
        if not isinstance(request, h11.Request):
            return
        name, port, path = _target(request)
        with connect(listed, name, port) as server:
            client.settimeout(_IDLE)
            if request.method != b"CONNECT":
                _pass_on(request, path, f"{name}:{port}".removesuffix(":80"), inner, client, server)
                return
            client.sendall(inner.send(h11.Response(status_code=200, reason=b"OK", headers=[])) or b"")
            server.sendall(inner.trailing_data[0])
            _relay(client, server)
    except h11.ProtocolError as error:
        _say(client, 400, "Bad request", str(error))
    except _Refused as refused:
        _say(client, *refused.args)


def _event(side: "h11.Connection", peer: socket.socket) -> object:
    """The next event of a message. Raises OSError, h11.ProtocolError."""
    import h11

    while True:
        if side.they_are_waiting_for_100_continue:
            peer.sendall(side.send(h11.InformationalResponse(status_code=100, headers=[])) or b"")
        event = side.next_event()
        if event is not h11.NEED_DATA:
            return event
        side.receive_data(peer.recv(1 << 16))


def _target(request: "h11.Request") -> tuple[str, int, bytes]:
    """Name, port and path that a request is for; its `Host` has no say (RFC 9112, 3.2.2). Raises _Refused where that
    is no name.
    """
    told = _PLAIN.fullmatch(request.target)
    wanted = request.target if request.method == b"CONNECT" else told[1] if told else b""
    host = _AUTHORITY.fullmatch(wanted)
    if host is None or (request.method == b"CONNECT" and not host[2]):
        raise _Refused(400, "Bad request", "this proxy takes `CONNECT name:port` and `http://name/path`")
    if {header for header, _ in request.headers} >= _LENGTHS:
        raise _Refused(400, "Bad request", "the request says twice how long it is")
    return host[1].lower().decode().rstrip("."), int(host[2] or 80), told[2] if told else b""


def _pass_on(
    request: "h11.Request",
    path: bytes,
    host: str,
    inner: "h11.Connection",
    client: socket.socket,
    server: socket.socket,
) -> None:
    """Writes the request anew; the answer, with which the connection ends, stays as it is."""
    import h11

    outer = h11.Connection(h11.CLIENT)
    listed = [value for header, value in request.headers if header == b"connection"]
    left = _OF_CONNECTION | {one.strip().lower() for value in listed for one in value.split(b",")} - _LENGTHS
    kept = [one for one in request.headers if one[0] not in left and not one[0].startswith(b"proxy-")]
    headers = [(b"Host", host.encode()), *kept, (b"Connection", b"close")]
    server.sendall(outer.send(h11.Request(method=request.method, target=path, headers=headers)) or b"")
    while isinstance(event := _event(inner, client), h11.Data):
        server.sendall(outer.send(h11.Data(data=event.data)) or b"")
    server.sendall(outer.send(h11.EndOfMessage()) or b"")
    _copy(server, client)


def _say(client: socket.socket, status: int, reason: str, words: str) -> None:
    body = f"ahp box: {words}\n".encode("utf-8", "replace")
    head = f"HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n"
    client.sendall(head.encode() + b"Connection: close\r\n\r\n" + body)


def _relay(one: socket.socket, other: socket.socket) -> None:
    """Copies both ways, until both have ended."""
    back = threading.Thread(target=_copy, args=(other, one), daemon=True)
    back.start()
    _copy(one, other)
    back.join()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(1 << 16):
            sink.sendall(data)
    except OSError:
        pass  # it is gone, or says nothing any more
    try:
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


class _Ports:
    """What listens inside, at the same ports of the person's loopback, where these are free."""

    def __init__(self, channel: socket.socket, lists: list[int]) -> None:
        self.channel, self.lists = channel, lists
        self.open: dict[int, socket.socket] = {}

    def forward(self) -> None:
        """Until `init` is gone."""
        self.channel.settimeout(_HEAD)
        while True:
            inside = self._inside()
            self._follow(set(inside))
            ready, _, _ = select.select([self.channel, *self.open.values()], [], [], _LOOKS)
            if self.channel in ready:
                return  # it says nothing unasked
            for port, listener in self.open.items():
                if listener in ready:
                    client, _ = listener.accept()
                    self._pass_in(client, port, inside[port])

    def _inside(self) -> dict[int, str]:
        """Port → the family (`init.FAMILIES`) and the address to reach what listens there."""
        found: dict[int, str] = {}
        for family, number in zip(init.FAMILIES, self.lists, strict=False):
            with open(number, encoding="ascii", closefd=False) as file:
                file.seek(0)
                lines = file.readlines()[1:]
            for line in lines:
                _, local, _, state = line.split()[:4]
                port = int(local.rpartition(":")[2], 16)
                if state == _LISTENS and port >= 1024 and port != init.PORT:
                    found.setdefault(port, family)
        return found

    def _follow(self, inside: set[int]) -> None:
        for port in {*self.open} - inside:
            self.open.pop(port).close()
        for port in sorted(inside - {*self.open})[: _MOST - len(self.open)]:
            try:
                self.open[port] = socket.create_server(("127.0.0.1", port))
            except OSError:
                pass  # something of the person's listens there

    def _pass_in(self, client: socket.socket, port: int, family: str) -> None:
        """Connects a client outside with the port inside, by a socket of the box."""
        self.channel.sendall(family.encode())
        _, numbers, _, _ = socket.recv_fds(self.channel, 1, 1)

        def talk() -> None:
            with client:
                try:
                    with socket.socket(fileno=numbers[0]) as server:
                        server.connect(("127.0.0.1" if family == init.FAMILIES[0] else "::1", port))
                        _relay(client, server)
                except OSError:
                    pass  # it ended just now

        threading.Thread(target=talk, daemon=True).start()
