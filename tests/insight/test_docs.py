"""docs/feedback.md shows what the commands print about the log of `tests/insight/example.py`.

`python -m tests.insight.test_docs` writes into the page what they print now.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path
from unittest import mock

import pytest

from ahp.cli.main import run
from ahp.system import clock
from tests.insight import example

PAGE = Path(__file__).resolve().parents[2] / "docs" / "feedback.md"
BLOCK = re.compile(r"(<!-- the output of `ahp ([^`]+)` -->\n```\w*\n)(.*?)(?=```)", re.DOTALL)
SHOWN = [(command, output) for _, command, output in BLOCK.findall(PAGE.read_text(encoding="utf-8"))]


def printed(command: str, folder: Path) -> str:
    """What `ahp command` prints at the end of the twelve weeks."""
    example.write(folder / ".ahp")
    (folder / ".ahp" / "hooks.yaml").write_text(example.POLICY)
    (folder / "larger.yaml").write_text(example.POLICY.replace("changed_count > 5", "changed_count > 10"))
    out = io.StringIO()
    at_the_end = mock.patch.object(clock, "now", lambda: example.END)
    with contextlib.chdir(folder), at_the_end, contextlib.redirect_stdout(out):
        run(shlex.split(command))
    return out.getvalue()


def test_the_page_shows_output() -> None:
    assert len(SHOWN) >= 2


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_what_the_page_shows_is_what_is_printed(command: str, output: str, tmp_path: Path) -> None:
    assert printed(command, tmp_path) == output, "python -m tests.insight.test_docs renews the page"


def _renew() -> None:
    def anew(found: re.Match[str]) -> str:
        with tempfile.TemporaryDirectory() as folder:
            return found[1] + printed(found[2], Path(folder))

    os.environ.pop("COLUMNS", None)
    PAGE.write_text(BLOCK.sub(anew, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(_renew())
