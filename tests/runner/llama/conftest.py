"""A real llama.cpp server whose model says what it is told: `make test-runner` installs it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import PROJECT
from tests.runner.llama.replies import replies

HERE = Path(__file__).resolve().parent
PYTHON = PROJECT / "build" / "model-server" / "bin" / "python"
TIME = 600.0  # s; only a failure takes so long


@pytest.fixture(scope="session")
def paths_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the project lies in which paths are tried: some replies name it."""
    return tmp_path_factory.mktemp("paths") / "project"


@pytest.fixture(scope="session")
def model_file(tmp_path_factory: pytest.TempPathFactory, paths_root: Path) -> Path:
    """The model that knows the replies."""
    has = [str(PYTHON), "-c", "import gguf, xllamacpp"]
    if not PYTHON.exists() or subprocess.run(has, capture_output=True, check=False).returncode:
        pytest.skip("no llama.cpp server is installed in build/model-server (make test-runner says why)")
    folder = tmp_path_factory.mktemp("model")
    (folder / "replies.json").write_text(json.dumps(replies(str(paths_root))))
    made = folder / "scripted.gguf"
    subprocess.run([PYTHON, HERE / "make_model.py", folder / "replies.json", made], check=True, timeout=TIME)
    return made


@pytest.fixture(scope="session")
def served(model_file: Path) -> Iterator[Callable[[int], str]]:
    """The address of a server by the tokens of its context; each is started once."""
    started: dict[int, str] = {}
    running: list[subprocess.Popen[str]] = []

    def address(context: int) -> str:
        if context not in started:
            log = model_file.with_name(f"server-{context}.log")
            command = [PYTHON, HERE / "serve.py", model_file, str(context)]
            server = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log.open("w"), text=True
            )
            running.append(server)
            assert server.stdout is not None
            lines = iter(server.stdout.readline, "")
            started[context] = next((line.strip() for line in lines if line.startswith("http://")), "")
            assert started[context], log.read_text()[-2000:]
        return started[context]

    try:
        yield address
    finally:
        for server in running:
            server.kill()
            server.wait(TIME)


@pytest.fixture
def server(served: Callable[[int], str]) -> str:
    """The address of a server with room enough."""
    return served(16384)
