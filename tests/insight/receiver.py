"""A receiver of OTLP over HTTP on the loopback address, built on the protocol's own messages."""

from __future__ import annotations

import contextlib
import gzip
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord


class Receiver:
    """`requests` and their `headers`; answers `status`, and rejects the first `rejects` records of each request.

    `says` is answered instead of the protocol's own words; an answer that `drips` has no end while somebody reads it.
    """

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[ExportLogsServiceRequest] = []
        self.headers: list[dict[str, str]] = []
        self.status, self.rejects, self.kind = 200, 0, "application/x-protobuf"
        self.says: bytes | None = None
        self.drips = False

    @property
    def records(self) -> list[LogRecord]:
        """All but the heartbeats."""
        return [record for record in self._all() if record.event_name != "ahp.heartbeat"]

    @property
    def heartbeats(self) -> list[LogRecord]:
        return [record for record in self._all() if record.event_name == "ahp.heartbeat"]

    def _all(self) -> list[LogRecord]:
        scopes = [scope for r in self.requests for one in r.resource_logs for scope in one.scope_logs]
        return [record for scope in scopes for record in scope.log_records]

    def take(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
        assert (path, headers["content-type"]) == ("/v1/logs", "application/x-protobuf")
        self.headers.append(headers)
        if self.status != 200:
            return self.status, b""
        request = ExportLogsServiceRequest()
        request.ParseFromString(gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body)
        self.requests.append(request)
        answer = ExportLogsServiceResponse()
        if self.rejects:
            answer.partial_success.rejected_log_records = self.rejects
            answer.partial_success.error_message = "too old"
        return 200, answer.SerializeToString() if self.says is None else self.says


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address at which a server on the loopback interface answers by `handler`, each request in a thread."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            status, answer = receiver.take(self.path, {k.lower(): v for k, v in self.headers.items()}, body)
            self.send_response(status)
            if receiver.kind:
                self.send_header("Content-Type", receiver.kind)
            if receiver.drips:
                self._drip()
                return
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def _drip(self) -> None:
            self.end_headers()
            with contextlib.suppress(OSError):  # nobody reads on
                while receiver.drips:
                    self.wfile.write(b" ")
                    time.sleep(0.05)

        def log_message(self, *_: object) -> None:
            pass

    with serving(Handler) as receiver.url:
        yield receiver
