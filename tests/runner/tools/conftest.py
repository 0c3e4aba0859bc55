"""A project's folder and the calls of ahp's own tools in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ahp.runner.tools.catalog import standard_tools
from ahp.runner.tools.tool import Toolbox, ToolContext

Call = Callable[..., str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


@pytest.fixture
def shown() -> list[str]:
    """What was shown to the person."""
    return []


@pytest.fixture
def call(folder: Path, shown: list[str]) -> Call:
    """Validates and runs one call, without a gate; all of a test are of one run."""
    toolbox = Toolbox(standard_tools(shown.append), str(folder))
    context = ToolContext(str(folder), 60.0)

    def run(name: str, **args: Any) -> str:
        tool = toolbox.find(toolbox.own_name(name))
        return tool.run(toolbox.validate(tool, args), context)

    return run
