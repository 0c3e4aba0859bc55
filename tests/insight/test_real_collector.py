"""`ahp log ship` to a real collector, rotel (https://rotel.dev), that is stopped on the way. `make test-tools`.

What rotel took it sends on, by OTLP, to the receiver of these tests.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ahp.insight.shipping import _RECORDS
from bench import scratch_log

from .receiver import receiving

pytestmark = pytest.mark.tools

RECORDS = 20_000
PATIENCE = 30.0  # seconds
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
    with receiving() as behind:
        with collector(rotel, tmp_path, behind.url) as address:
            shipping = ship(tmp_path, address)
            until(lambda: bool(behind.records))
        said, _ = shipping.communicate(timeout=PATIENCE)
        assert shipping.returncode == 2, said
        assert "did not take the records" in said and "nothing is lost" in said
        assert 0 < len(behind.records) < RECORDS
        with collector(rotel, tmp_path, behind.url) as address:
            shipping = ship(tmp_path, address)
            assert shipping.wait(PATIENCE) == 0
            until(lambda: len(behind.records) >= RECORDS)
        uids = [one.value.string_value for r in behind.records for one in r.attributes if one.key == "log.record.uid"]
        assert len(set(uids)) == RECORDS
        assert len(uids) <= RECORDS + _RECORDS  # what it had taken, and not answered for, comes twice
        assert {record.body.string_value for record in behind.records} == set(lines)


@contextmanager
def collector(rotel: Path, folder: Path, behind: str) -> Iterator[str]:
    """The address of a rotel that sends on to `behind`, until it has ended in good order."""
    http, grpc = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
    argv = [str(rotel), "start", "--otlp-http-endpoint", http, "--otlp-grpc-endpoint", grpc]
    argv += ["--exporter", "otlp", "--otlp-exporter-endpoint", behind, "--otlp-exporter-protocol", "http"]
    argv += ["--pid-file", str(folder / "rotel.pid"), "--log-file", str(folder / "rotel.log"), "--disable-batching"]
    with (folder / "rotel.out").open("a") as out:
        running = subprocess.Popen(argv, stdout=out, stderr=out, env=plain())
    try:
        until(lambda: listens(http) or running.poll() is not None)
        assert running.poll() is None, (folder / "rotel.out").read_text()
        yield f"http://{http}"
        running.send_signal(signal.SIGTERM)
        assert running.wait(PATIENCE) == 0
    finally:
        running.kill()
        running.wait()


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


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


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
