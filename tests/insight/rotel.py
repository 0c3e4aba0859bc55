"""rotel (https://rotel.dev), a collector of OpenTelemetry, as the tests that ship to it start it."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from .receiver import serving

PATIENCE = 300.0  # seconds; only a failure takes so long
PEERS = Path(__file__).resolve().parents[2] / "build" / "peers"


def program() -> Path:
    found = sorted(PEERS.glob("lib/python*/site-packages/rotel/rotel-agent"))
    if not found:
        pytest.skip("rotel is not in build/peers: `make test-tools` installs it where PyPI has it for this platform")
    return found[0]


def otlp(behind: str) -> list[str]:
    """Options of a rotel that sends on to `behind` by OTLP."""
    return ["--exporter", "otlp", "--otlp-exporter-endpoint", behind, "--otlp-exporter-protocol", "http"]


def clickhouse(address: str) -> list[str]:
    """Options of a rotel that inserts into ClickHouse."""
    told = {"endpoint": address, "database": "ahp", "compression": "none"}
    return ["--exporter", "clickhouse", *(f"--clickhouse-exporter-{name}={value}" for name, value in told.items())]


@contextmanager
def collecting(folder: Path, exporter: Sequence[str], *, killed: bool = False) -> Iterator[str]:
    """Where a rotel listens, until it has ended in good order, or is killed."""
    running, address = begun(folder, exporter)
    try:
        yield address
        if not killed:
            running.send_signal(signal.SIGTERM)
            assert running.wait(PATIENCE) == 0
    finally:
        running.kill()
        running.wait()


def begun(folder: Path, exporter: Sequence[str]) -> tuple[subprocess.Popen[bytes], str]:
    """A rotel that listens, and where: it takes no port 0, and one that was free may be taken when it comes to it."""
    said = folder / "rotel.out"
    for _ in range(10):
        first, second = free_ports(2)
        argv = [str(program()), "start", "--otlp-http-endpoint", first, "--otlp-grpc-endpoint", second, *exporter]
        argv += ["--pid-file", str(folder / "rotel.pid"), "--log-file", str(folder / "rotel.log"), "--disable-batching"]
        with said.open("w") as out:
            running = subprocess.Popen(argv, stdout=out, stderr=out, env=plain())
        until(lambda: running.poll() is not None or listens(first))
        if running.poll() is None:
            return running, first
    raise AssertionError(said.read_text())


class Door:
    """One address for the collectors, which listen elsewhere each time: passes `left` requests on to `address`, then
    none, so that no shipping is done before the test has seen it.
    """

    def __init__(self) -> None:
        self.url, self.address, self.left = "", "", 0
        self.closed = threading.Event()


@contextmanager
def passing() -> Iterator[Door]:
    door = Door()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if not door.left:
                door.closed.set()
                self.close_connection = True
                return
            door.left -= 1
            further = http.client.HTTPConnection(door.address)
            further.request("POST", self.path, body, dict(self.headers.items()))
            answer = further.getresponse()
            data = answer.read()
            further.close()
            self.send_response(answer.status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with serving(Handler) as door.url:
        yield door


def plain() -> dict[str, str]:
    """The environment without what would lead elsewhere."""
    told = os.environ.items()
    return {
        name: value
        for name, value in told
        if not name.startswith(("OTEL_", "ROTEL_")) and not name.lower().endswith("_proxy")
    }


def free_ports(number: int) -> list[str]:
    """Addresses that nobody listens at, each another one."""
    with ExitStack() as stack:
        held = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(number)]
        return [f"127.0.0.1:{one.getsockname()[1]}" for one in held]


def listens(address: str) -> bool:
    host, _, port = address.partition(":")
    try:
        socket.create_connection((host, int(port)), 1).close()
    except OSError:
        return False
    return True


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "nothing came"
        time.sleep(0.02)
