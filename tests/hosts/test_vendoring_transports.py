"""A shared policy comes by https and by ssh as git brings it: with the person's own certificates, keys and settings."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from ahp.cli.main import run
from tests.conftest import Repo
from tests.hosts.test_vendoring import BASE, WEAKER, Org, keys, org

__all__ = ["keys", "org"]
BACKEND = Path(subprocess.run(["git", "--exec-path"], capture_output=True, text=True, check=True).stdout.strip())
pytestmark = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="OpenSSH's ssh-keygen is not installed")


@pytest.fixture
def https(org: Org, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The organisation's repository behind git's own CGI program and TLS, which the person's git trusts."""
    if not (BACKEND / "git-http-backend").exists() or not shutil.which("openssl"):
        pytest.skip("git http-backend or openssl is not installed")
    certificate = str(tmp_path / "server.pem")
    made = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    subprocess.run(
        [*made.split(), "-keyout", certificate, "-out", certificate + ".crt"], check=True, capture_output=True
    )
    env = {**os.environ, "GIT_PROJECT_ROOT": str(org.repo.root.parent), "GIT_HTTP_EXPORT_ALL": "1"}

    class Server(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            told = {"REQUEST_METHOD": self.command, "PATH_INFO": path, "QUERY_STRING": query}
            told |= {
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            }
            told |= {"HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", "")}
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            argv = [str(BACKEND / "git-http-backend")]
            head, _, data = subprocess.run(
                argv, env={**env, **told}, input=body, capture_output=True, check=True
            ).stdout.partition(b"\r\n\r\n")
            fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
            self.send_response(int(fields.pop("Status", "200").split()[0]))
            for name, value in fields.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate + ".crt", certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    serving = Thread(target=server.serve_forever)
    serving.start()
    monkeypatch.setenv("GIT_SSL_CAINFO", certificate + ".crt")
    try:
        yield f"https://localhost:{server.server_port}/{org.repo.root.name}"
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


@pytest.fixture
def ssh(org: Org, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The same by an ssh that logs in nowhere: what it is asked to run there, it runs here."""
    program = tmp_path / "ssh"
    program.write_text(
        f"#!{sys.executable}\nimport os, sys\n"
        "at = sys.argv.index('git@git.example')\n"
        f"open({str(tmp_path / 'asked')!r}, 'a').write(' '.join(sys.argv[at:]) + chr(10))\n"
        "os.execvp('sh', ['sh', '-c', sys.argv[at + 1]])\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(program))
    return f"ssh://git@git.example{org.repo.root}"


@pytest.fixture
def project(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.chdir(repo.root)
    return repo


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["https", "ssh"])
def test_a_shared_policy_comes_by_it_and_its_next_version_too(
    transport: str,
    project: Repo,
    org: Org,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = request.getfixturevalue(transport)
    monkeypatch.setattr(Org, "url", property(lambda self: url))
    project.write(".ahp/hooks.yaml", org.policy())
    assert run(["policy", "update"]) == 0
    assert (project.root / ".ahp/vendor/org/base.yaml").read_text("utf-8") == BASE
    assert run(["policy", "update", "--check"]) == 0
    org.release("v2", **{"base.yaml": WEAKER})
    assert run(["policy", "update", "--check"]) == 1  # a newer version is there
    project.write(".ahp/hooks.yaml", org.policy("v2"))
    assert run(["policy", "update", "org"]) == 0
    assert (project.root / ".ahp/vendor/org/base.yaml").read_text("utf-8") == WEAKER
    if transport == "ssh":
        assert "git@git.example git-upload-pack '" in (tmp_path / "asked").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["https", "ssh"])
def test_what_another_key_signed_is_refused_by_it(
    transport: str, project: Repo, org: Org, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = request.getfixturevalue(transport)
    monkeypatch.setattr(Org, "url", property(lambda self: url))
    org.release("v2", by="eve")
    project.write(".ahp/hooks.yaml", org.policy("v2"))
    assert run(["policy", "update"]) == 2
    assert not (project.root / ".ahp/vendor").exists()


def test_a_server_that_the_persons_git_does_not_trust_is_refused(
    project: Repo, org: Org, https: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GIT_SSL_CAINFO")
    monkeypatch.setattr(Org, "url", property(lambda self: https))
    project.write(".ahp/hooks.yaml", org.policy())
    assert run(["policy", "update"]) == 2
    assert "certificate" in capsys.readouterr().err.lower()


@pytest.mark.slow
def test_init_joins_by_https(project: Repo, org: Org, https: str, keys: Path) -> None:
    line = " ".join((keys / "ann.pub").read_text("utf-8").split()[:2])
    org.release("v3", **{"hooks.yaml": BASE, "signers": f"ann {line}\n"})
    assert run(["init", "--org", https]) == 0
    assert "ref: v3" in (project.root / ".ahp/hooks.yaml").read_text("utf-8")
