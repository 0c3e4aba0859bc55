"""ClickHouse in one process (chDB) behind the part of its HTTP interface that an exporter and these tests use.

`python clickhouse_door.py SECONDS FOLDER [FILE.sql …]`: runs the files, then listens; prints its port. It waits so many
seconds before each insert. The environment that has chDB runs it, which is not that of ahp. https://clickhouse.com/docs/interfaces/http
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from chdb.session import Session  # type: ignore[import-not-found]

session = Session(sys.argv[2])
lock = threading.Lock()


def statements(text: str) -> list[str]:
    """ClickHouse takes one statement a query; none of ours has a semicolon inside."""
    return [one for one in text.split(";") if one.strip()]


def answer(sql: str, body: bytes, database: str) -> bytes:
    with lock:
        session.query(f"USE {database}")
        if not body:
            return bytes(session.query(sql, "TabSeparated").bytes())
        time.sleep(float(sys.argv[1]))
        into, form = sql.rsplit(" FORMAT ", 1)
        with tempfile.NamedTemporaryFile(dir=sys.argv[2]) as file:
            file.write(body)
            file.flush()
            session.query(f"{into} FROM INFILE '{file.name}' FORMAT {form}")
        return b""


class Door(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        read = b""
        while size := int(self.rfile.readline(), 16):
            read += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return read

    def do_POST(self) -> None:
        asked = {name: one[0] for name, one in parse_qs(urlsplit(self.path).query).items()}
        body = self.body()
        try:
            sql, rows = (asked["query"], body) if "query" in asked else (body.decode(), b"")
            status, said = 200, answer(sql, rows, asked.get("database", "default"))
        except RuntimeError as error:  # whatever ClickHouse says is the answer
            status, said = 500, str(error).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: object) -> None:
        pass


for name in sys.argv[3:]:
    for one in statements("\n".join(line.split("--")[0] for line in Path(name).read_text().splitlines())):
        session.query(one)
server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
print(server.server_port, flush=True)
server.serve_forever()
