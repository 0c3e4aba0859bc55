"""`ahp log ship` to a real collector, rotel (https://rotel.dev), that is stopped on the way. `make test-tools`.

What rotel took it sends on, by OTLP, to the receiver of these tests.
"""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from ahp.insight.shipping import _RECORDS
from bench import scratch_log

from .receiver import receiving, serving

pytestmark = pytest.mark.tools

RECORDS = 20_000
PATIENCE = 300.0  # seconds; only a failure takes so long
TAKEN = 3  # requests of the first shipping, before its collector stops
AHP = str(Path(sys.executable).with_name("ahp"))
PEERS = Path(__file__).resolve().parents[2] / "build" / "peers"


@pytest.fixture
def rotel() -> Path:
    found = sorted(PEERS.glob("lib/python*/site-packages/rotel/rotel-agent"))
    if not found:
        pytest.skip("rotel is not in build/peers: `make test-tools` installs it where PyPI has it for this platform")
    return found[0]


def test_a_collector_that_stops_on_the_way_gets_every_record(rotel: Path, tmp_path: Path) -> None:
    scratch_log.write(str(tmp_path / ".ahp"), RECORDS)
    lines = (tmp_path / ".ahp" / "signals.jsonl").read_text().splitlines()
    with receiving() as behind, passing() as door:
        with collector(rotel, tmp_path, behind.url) as door.address:
            door.left = TAKEN
            shipping = ship(tmp_path, door.url)
            until(door.closed.is_set)
            until(lambda: bool(behind.records))
        said, _ = shipping.communicate(timeout=PATIENCE)
        assert shipping.returncode == 2, said
        assert "did not take the records" in said and "nothing is lost" in said
        assert 0 < len(behind.records) < RECORDS
        with collector(rotel, tmp_path, behind.url) as door.address:
            door.left = RECORDS
            shipping = ship(tmp_path, door.url)
            assert shipping.wait(PATIENCE) == 0
            until(lambda: len(behind.records) >= RECORDS)
        uids = [one.value.string_value for r in behind.records for one in r.attributes if one.key == "log.record.uid"]
        assert len(set(uids)) == RECORDS
        assert len(uids) <= RECORDS + _RECORDS  # what it had taken, and not answered for, comes twice
        assert {record.body.string_value for record in behind.records} == set(lines)


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


@contextmanager
def collector(rotel: Path, folder: Path, behind: str) -> Iterator[str]:
    """Where a rotel listens that sends on to `behind`, until it has ended in good order."""
    running, address = begun(rotel, folder, behind)
    try:
        yield address
        running.send_signal(signal.SIGTERM)
        assert running.wait(PATIENCE) == 0
    finally:
        running.kill()
        running.wait()


def begun(rotel: Path, folder: Path, behind: str) -> tuple[subprocess.Popen[bytes], str]:
    """A rotel that listens, and where: it takes no port 0, and one that was free may be taken when it comes to it."""
    said = folder / "rotel.out"
    for _ in range(10):
        first, second = free_ports(2)
        argv = [str(rotel), "start", "--otlp-http-endpoint", first, "--otlp-grpc-endpoint", second]
        argv += ["--exporter", "otlp", "--otlp-exporter-endpoint", behind, "--otlp-exporter-protocol", "http"]
        argv += ["--pid-file", str(folder / "rotel.pid"), "--log-file", str(folder / "rotel.log"), "--disable-batching"]
        with said.open("w") as out:
            running = subprocess.Popen(argv, stdout=out, stderr=out, env=plain())
        until(lambda: running.poll() is not None or listens(first))
        if running.poll() is None:
            return running, first
    raise AssertionError(said.read_text())


def ship(folder: Path, address: str) -> subprocess.Popen[str]:
    argv = [AHP, "log", "ship", "--endpoint", address]
    return subprocess.Popen(
        argv, cwd=folder, env=plain(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )


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
