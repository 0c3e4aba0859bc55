"""An OpenTelemetry collector, reached by the OpenTelemetry SDK (extra `insight`): OTLP over HTTP, protobuf.

Headers, certificates, timeout, compression and resource attributes are those of the standard OTEL_* variables.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from ahp.insight import export
from ahp.protocol.text import one_line
from ahp.system import installed
from ahp.system.errors import AhpError
from ahp.system.version import __version__

try:
    from google.protobuf.json_format import Parse, ParseError
    from google.protobuf.message import DecodeError
    from opentelemetry._logs import LogRecord, SeverityNumber
    from opentelemetry.context import Context
    from opentelemetry.exporter.otlp.proto.http import _log_exporter
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
    from opentelemetry.sdk._logs import ReadableLogRecord
    from opentelemetry.sdk._logs.export import LogRecordExportResult
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
    from requests import Response, Session
except ImportError as error:
    raise AhpError(f"shipping needs the OpenTelemetry SDK ({error}): {installed.command('insight')}") from None

_TRACE = TraceContextTextMapPropagator()
_DEFAULT = "http://localhost:4318"
_PATH = "/v1/logs"
_GRPC = 4317
_TOLD = 500
_MARGIN = 2.0  # seconds
_LONGEST = 86_400.0


class Collector:
    """Takes log records at `address`: the base address given and /v1/logs, else what the OTEL_* variables say."""

    def __init__(self, endpoint: str | None = None) -> None:
        self.address, self._seconds = _address(endpoint), _timeout()
        self._session = _Session()
        self._exporter = _log_exporter.OTLPLogExporter(endpoint=self.address, session=self._session)

    @property
    def shown(self) -> str:
        """The address without a password."""
        parts = urlsplit(self.address)
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))

    def send(self, of_all: Mapping[str, str], records: Sequence[export.Told]) -> str:
        """As `shipping.Send`. The SDK tries again until OTEL_EXPORTER_OTLP_TIMEOUT has passed, 10 s unless set."""
        resource, now = Resource.create(dict(of_all)), time.time_ns()
        scope = InstrumentationScope(export.SCOPE, __version__)
        self._session.failure, self._session.rejected = "it was not asked", ""
        batch = [_record(one, resource, scope, now) for one in records]
        with _quiet():
            result = self._exported(batch)
        # Beside its result: the SDK takes a redirection, to a page that asks who we are, for success.
        if result is not LogRecordExportResult.SUCCESS or self._session.failure:
            why = one_line(self._session.failure or "the SDK says no more", _TOLD)
            is_grpc = urlsplit(self.address).port == _GRPC
            hint = f"port {_GRPC} is for OTLP over gRPC, which is not supported; use 4318 (HTTP)\n" if is_grpc else ""
            raise AhpError(
                f"{self.shown} did not take the records: {why}\n{hint}"
                "nothing is lost: `ahp log ship` goes on from there once that is fixed"
            )
        return self._session.rejected

    def _exported(self, batch: list[ReadableLogRecord]) -> LogRecordExportResult:
        """What the SDK says; it waits without an end for an answer that comes drop by drop."""
        answer: Future[LogRecordExportResult] = Future()

        def export() -> None:
            try:
                answer.set_result(self._exporter.export(batch))
            except OSError:  # an SDK before 1.45 lets it through; the session has kept it
                answer.set_result(LogRecordExportResult.FAILURE)
            except Exception as error:  # noqa: BLE001  # raised again by `result`
                answer.set_exception(error)

        threading.Thread(target=export, daemon=True).start()
        try:
            return answer.result(self._seconds + _MARGIN)
        except TimeoutError:
            self._session.failure = f"its answer had no end within {self._seconds:g} s"
            return LogRecordExportResult.FAILURE


class _Session(Session):
    """Keeps why the last request failed ("" where it did not), and what was said of records that were rejected."""

    failure = rejected = ""

    def request(self, *args: Any, **more: Any) -> Response:
        try:
            response = super().request(*args, **more)
        except (OSError, ValueError) as error:  # all of requests' own are among them
            self.failure = _cause(error)
            raise
        kind, content = response.headers.get("Content-Type", ""), response.content
        is_page = "html" in kind or content.lstrip().startswith(b"<")
        is_taken = 200 <= response.status_code < 300 and not is_page
        said = ", ".join(filter(None, (f"HTTP {response.status_code} {response.reason}", kind)))
        self.failure = "" if is_taken else ": ".join(filter(None, (said, response.text.strip())))
        self.rejected = _rejected(content) if is_taken else ""
        return response


def _cause(error: BaseException) -> str:
    """What was the matter in the end: requests and urllib3 tell it in a sentence around a sentence."""
    while inner := error.__cause__ or error.__context__:
        error = inner
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _rejected(content: bytes) -> str:
    """What a collector has taken and rejected for good: by the protocol it is not sent again."""
    answer = ExportLogsServiceResponse()
    try:
        if content.lstrip().startswith(b"{"):
            Parse(content, answer, ignore_unknown_fields=True)
        else:
            answer.ParseFromString(content)
    except (DecodeError, ParseError):  # an "OK", say
        return ""
    told = answer.partial_success
    return f"{told.rejected_log_records} rejected: {one_line(told.error_message, _TOLD)}" * bool(
        told.rejected_log_records
    )


def _address(endpoint: str | None) -> str:
    """Of the log records (https://opentelemetry.io/docs/specs/otel/protocol/exporter/). Raises AhpError."""
    environ = os.environ
    own = "" if endpoint else environ.get("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "")
    base = (endpoint or environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or _DEFAULT).rstrip("/")
    address = own or (base if base.endswith(_PATH) else base + _PATH)
    try:
        parts = urlsplit(address)
        is_one = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        is_one = False
    if not is_one:
        raise AhpError(f"{one_line(address)!r} is no address of a collector; write one like {_DEFAULT}")
    return address


def _timeout() -> float:
    """For how long the SDK tries, in seconds. Raises AhpError."""
    own = os.environ.get("OTEL_EXPORTER_OTLP_LOGS_TIMEOUT") or os.environ.get("OTEL_EXPORTER_OTLP_TIMEOUT") or "10"
    try:
        seconds = float(own)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < _LONGEST:
        raise AhpError(f"OTEL_EXPORTER_OTLP_TIMEOUT is {one_line(own, 40)!r}; write seconds, more than 0")
    return seconds


def _record(one: export.Told, resource: Resource, scope: InstrumentationScope, now: int) -> ReadableLogRecord:
    told = LogRecord(
        timestamp=one.nanoseconds,
        observed_timestamp=now,
        severity_text=one.severity,
        severity_number=SeverityNumber(one.number),
        body=one.body,
        attributes=one.attributes,
        event_name=one.event,
        context=_TRACE.extract({"traceparent": str(one.attributes.get("ahp.traceparent", ""))}, Context()),
    )
    return ReadableLogRecord(told, resource, scope)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what the exporter would print of its failures, which are told once, by us."""
    logger = logging.getLogger(_log_exporter.__name__)
    was, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = was
