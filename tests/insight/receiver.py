"""A receiver of OTLP over HTTP on the loopback address, built on the protocol's own messages."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord


class Receiver:
    """`requests` and their `headers`; answers `status`, and rejects the first `rejects` records of each request."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[ExportLogsServiceRequest] = []
        self.headers: list[dict[str, str]] = []
        self.status, self.rejects, self.kind = 200, 0, "application/x-protobuf"

    @property
    def records(self) -> list[LogRecord]:
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
        return 200, answer.SerializeToString()


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            status, answer = receiver.take(self.path, {k.lower(): v for k, v in self.headers.items()}, body)
            self.send_response(status)
            self.send_header("Content-Type", receiver.kind)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    receiver.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
