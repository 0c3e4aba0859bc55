"""A box reaches the hosts that its policy lists, and nothing else; what listens in it is there for the person."""

from __future__ import annotations

import http.server
import shlex
import socket
import subprocess
import textwrap
import threading
import time
import urllib.request
from collections.abc import Iterator

import pytest

from ahp.box import init
from ahp.box.network import _is_public, _Refused, connect

from .conftest import Boxed

box = pytest.mark.box


class _Origin(http.server.BaseHTTPRequestHandler):
    """Answers with what it was asked; the server notes each request."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.seen.append((self.command, self.path, dict(self.headers), body))  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.path)))
        self.end_headers()
        self.wfile.write(self.path.encode())

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def origin() -> Iterator[http.server.ThreadingHTTPServer]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Origin)
    server.seen = []  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def python(code: str) -> str:
    return f"python3 -c {shlex.quote(textwrap.dedent(code))}"


def raw(*requests: str) -> str:
    """Says each text to the proxy, on a connection of its own, and prints the first line of each answer."""
    return python(
        f"""
        import socket
        for text in {[one.encode() for one in requests]!r}:
            with socket.create_connection(("127.0.0.1", {init.PORT})) as to:
                to.settimeout(20)
                to.sendall(text)
                answer = b""
                try:
                    while data := to.recv(65536):
                        answer += data
                except OSError as error:
                    print(error, end=" ")
                print(answer.split(b"\\r\\n")[0].decode(), answer.count(b"HTTP/1.1 "))
        """
    )


@box
def test_a_listed_host_is_reached_by_http_and_by_connect(boxed: Boxed, origin: http.server.HTTPServer) -> None:
    port = origin.server_port
    done = boxed(
        python(f"import urllib.request as u; print(u.urlopen('http://localhost.:{port}/a?b').read().decode())")
        + "; "
        + python(
            f"""
            import http.client
            to = http.client.HTTPConnection("127.0.0.1", {init.PORT})
            to.set_tunnel("localhost", {port})
            for path in ("/one", "/two"):
                to.request("GET", path)
                print(to.getresponse().read().decode())
            """
        ),
        keys={"network": [f"localhost:{port}"]},
    )
    assert done.stdout.split() == ["/a?b", "/one", "/two"], done.stderr


@box
def test_nothing_else_passes(boxed: Boxed, origin: http.server.HTTPServer) -> None:
    port = origin.server_port
    wanted = [
        *(f"{one}:{port}" for one in ("127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "[::1]")),
        *(f"{one}:{port}" for one in ("[::ffff:127.0.0.1]", "0", "localhost.local", "localhost%00", "a@localhost")),
        *("169.254.169.254:80", "localhost:80", "localhost:22", "localhost", f"localhost:{port}@169.254.169.254:80"),
    ]
    texts = [f"CONNECT {one} HTTP/1.1\r\nHost: {one}\r\n\r\n" for one in wanted]
    texts += [f"GET http://{one}/ HTTP/1.1\r\nHost: {one}\r\n\r\n" for one in wanted]
    texts += [f"GET {one} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n" for one in ("/", "*", f"ftp://localhost:{port}/")]
    done = boxed(raw(*texts), keys={"network": [f"localhost:{port}"]})
    answers = [line.split()[1] for line in done.stdout.splitlines()]
    assert len(answers) == len(texts) and set(answers) <= {"400", "403"}, done
    assert origin.seen == []  # type: ignore[attr-defined]


SMUGGLED = {
    "two hosts": "GET http://localhost:PORT/ HTTP/1.1\r\nHost: localhost:PORT\r\nHost: evil\r\n\r\n",
    "another host": "GET http://localhost:PORT/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    "two lengths": "POST http://localhost:PORT/ HTTP/1.1\r\nHost: localhost:PORT\r\nContent-Length: 0\r\n"
    "Content-Length: 44\r\n\r\nGET /evil HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n",
    "length and chunks": "POST http://localhost:PORT/ HTTP/1.1\r\nHost: localhost:PORT\r\nContent-Length: 60\r\n"
    "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /evil HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n",
    "odd chunks": "POST http://localhost:PORT/ HTTP/1.1\r\nHost: localhost:PORT\r\nTransfer-Encoding: xchunked\r\n\r\n"
    "0\r\n\r\nGET /evil HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n",
    "a second one": "GET http://localhost:PORT/ HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n"
    "GET http://localhost:PORT/evil HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n",
    "a folded header": "GET http://localhost:PORT/ HTTP/1.1\r\nHost: localhost:PORT\r\nA: b\r\n Host: two\r\n\r\n",
    "a space before the colon": "GET http://localhost:PORT/ HTTP/1.1\r\nHost : evil\r\nHost: localhost:PORT\r\n\r\n",
    "a bare line end": "GET http://localhost:PORT/ HTTP/1.1\nHost: localhost:PORT\nA: b\rGET /evil HTTP/1.1\n\n",
    "a space in the target": "GET http://localhost:PORT/ /evil HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n",
    "an end in the target": "GET http://localhost:PORT/\x0b/evil HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n",
    "an upgrade": "GET http://localhost:PORT/ HTTP/1.1\r\nHost: localhost:PORT\r\nConnection: Upgrade\r\n"
    "Upgrade: x\r\n\r\nGET /evil HTTP/1.1\r\n\r\n",
}


@box
def test_no_request_is_smuggled(boxed: Boxed, origin: http.server.HTTPServer) -> None:
    port = str(origin.server_port)
    texts = [one.replace("PORT", port) for one in SMUGGLED.values()]
    done = boxed(raw(*texts), keys={"network": [f"localhost:{port}"]})
    answers = dict(zip(SMUGGLED, done.stdout.splitlines(), strict=True))
    assert all(line.endswith(" 1") for line in answers.values()), answers
    seen = origin.seen  # type: ignore[attr-defined]
    assert seen and {path for _, path, _, _ in seen} == {"/"}, (answers, seen)
    assert {headers["Host"] for _, _, headers, _ in seen} == {f"localhost:{port}"}
    assert all("evil" not in str(headers) + str(body) for _, _, headers, body in seen), seen
    assert {name for _, _, headers, _ in seen for name in headers} == {"Host", "a", "Connection"}


@box
def test_there_is_no_other_way_out(boxed: Boxed, origin: http.server.HTTPServer) -> None:
    code = f"""
        import socket
        for family, kind, at in (
            (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", {origin.server_port})),
            (socket.AF_INET, socket.SOCK_STREAM, ("169.254.169.254", 80)),
            (socket.AF_INET, socket.SOCK_DGRAM, ("203.0.113.1", 53)),
            (socket.AF_INET6, socket.SOCK_STREAM, ("2001:db8::1", 443)),
            (socket.AF_INET6, socket.SOCK_STREAM, ("::1", {origin.server_port})),
            (socket.AF_INET6, socket.SOCK_DGRAM, ("2001:db8::1", 53)),
        ):
            try:
                to = socket.socket(family, kind)
                to.connect(at)
                to.send(b"x")
                print("PASSED", at)
            except OSError as error:
                print("no", error)
        try:
            print("PASSED", socket.getaddrinfo("example.com", 80))
        except OSError as error:
            print("no", error)
        """
    done = boxed(python(code), keys={"network": [f"localhost:{origin.server_port}", "example.com"]})
    assert "PASSED" not in done.stdout and done.stdout.count("no [Errno") == 7, done


@box
def test_a_refusal_names_the_line_that_would_allow_it(boxed: Boxed) -> None:
    say = "import urllib.request as u, urllib.error as e\ntry: u.urlopen('http://index.example/')\n"
    done = boxed(python(say + "except e.HTTPError as error: print(error, error.read().decode())"))
    assert "403: Not in network of the policy" in done.stdout and "`network: [index.example]`" in done.stdout


@box
def test_a_changed_list_begins_another_box(boxed: Boxed, origin: http.server.HTTPServer) -> None:
    text = raw(f"GET http://localhost:{origin.server_port}/ HTTP/1.1\r\nHost: localhost:{origin.server_port}\r\n\r\n")
    keys = {"network": [f"localhost:{origin.server_port}"]}
    codes = [boxed(text, "s", keys=one).stdout.split()[1] for one in ({}, keys, {})]
    assert codes == ["403", "200", "403"]


@box
@pytest.mark.parametrize("family", ["127.0.0.1", "::1"])
def test_what_listens_inside_is_there_for_the_person(boxed: Boxed, family: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    launcher = boxed.start(f"exec python3 -m http.server {port} --bind {family}", "s")
    try:
        until = time.monotonic() + 60
        while True:
            try:
                page = urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
                    f"http://127.0.0.1:{port}/a.txt"
                )
                break
            except OSError:
                assert time.monotonic() < until, launcher.communicate()
                time.sleep(0.05)
        assert page.read() == b"a\n"
    finally:
        launcher.terminate()
        launcher.communicate(timeout=60)
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port))


def test_addresses_of_a_listed_name_are_public_or_listed_with_the_port() -> None:
    private = ["127.0.0.1", "10.0.0.1", "192.168.1.1", "100.64.0.1", "169.254.169.254", "0.0.0.0", "224.0.0.1", "::1"]
    private += ["fe80::1%lo", "fd00::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "2002:7f00:1::", "::"]
    assert [one for one in private if _is_public(one)] == []
    assert _is_public("93.184.215.14") and _is_public("2606:2800:21f:cb07::1")
    with pytest.raises(_Refused, match=r"`network: \[localhost:80\]` would allow it"):
        connect({"localhost"}, "localhost", 80)


def _configured(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60).stdout.strip()
    except FileNotFoundError:
        return ""


def _listed(address: str) -> list[str]:
    """The host of a registry's address, with its port; skips where it has none or is not reached."""
    host = address.partition("://")[2].partition("/")[0].rpartition("@")[2]
    host += "" if ":" in host else ":443" if address.startswith("https") else ":80"
    try:
        socket.create_connection((host.partition(":")[0], int(host.partition(":")[2])), timeout=20).close()
    except OSError as error:
        pytest.skip(f"no registry is reached from here: {error}")
    return [host]


@box
def test_pip_installs_through_it(boxed: Boxed) -> None:
    told = "from pip._internal.models.index import PyPI; print(PyPI.simple_url, PyPI.file_storage_domain)"
    if not (of_pip := _configured("python3", "-c", told).split()):
        pytest.skip("python3 has no pip")
    index = _configured("python3", "-m", "pip", "config", "get", "global.index-url") or of_pip[0]
    keys = {"network": [*_listed(index), f"{of_pip[1]}:443"]}
    install = f"v/bin/pip install -q --no-cache-dir --no-deps --index-url {index} six"
    done = boxed(f"python3 -m venv v && {install} && v/bin/python -c 'import six; print(six.__name__)'", keys=keys)
    assert done.stdout == "six\n", done.stderr
    assert boxed(f"{install} --force-reinstall --retries 0").returncode == 1


@box
def test_npm_ci_works_through_it(boxed: Boxed) -> None:
    registry = _configured("npm", "config", "get", "registry")
    if not registry:
        pytest.skip("npm is not installed")
    keys = {"network": _listed(registry)}
    boxed.repo.write("package.json", '{"name": "x", "version": "1.0.0", "dependencies": {"is-number": "7.0.0"}}\n')
    lock = boxed("npm install --package-lock-only --no-audit --no-fund --fetch-retries 0", keys=keys)
    assert lock.returncode == 0, lock.stderr
    done = boxed("npm ci --no-audit --no-fund && node -p \"require('is-number')(5)\"", keys=keys)
    assert done.stdout.split()[-1] == "true", done.stderr
