"""docs/models.md and docs/tools.md say what the code does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest

from ahp.runner.config import ReplyFormat
from ahp.runner.models import exchange
from ahp.runner.models.endpoint import APIS
from ahp.runner.run.session import definition
from ahp.runner.tools.catalog import standard_tools

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
MODELS = (DOCS / "models.md").read_text("utf-8")
TOOLS = (DOCS / "tools.md").read_text("utf-8")


def test_the_program_with_a_model_of_its_own_works(repo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    [policy] = re.findall(r"```yaml\n(.*?)```", MODELS, re.DOTALL)
    repo.commit("first", **{".ahp/hooks.yaml": policy})
    monkeypatch.chdir(repo.root)
    [code] = re.findall(r"```python\n(.*?)```", MODELS, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    assert (names["turn"].ok, names["turn"].answer) == (True, "It is noted.")
    assert names["NOTES"] == {"weather": "sunny"}
    codes = [event["code"] for event in names["agent"].events.seen if event["event"] == "tool_result"]
    assert codes == ["blocked", "ok"]
    written = [line for line in code.splitlines() if line.strip()]
    assert len(written) <= 30, len(written)


def test_every_tool_is_told_with_its_kind_and_arguments() -> None:
    told = dict(re.findall(r"^\| `(\w+)` \| (\w+ \| [\w?, ]+) \|", TOOLS, re.MULTILINE))
    made = {}
    for tool in standard_tools(print):
        schema = definition(tool).parameters
        names = [name + "?" * (name not in schema.get("required", ())) for name in schema["properties"]]
        made[tool.name] = f"{tool.kind} | {', '.join(names)}"
    assert told == made
    assert 'entry-points."ahp.tools"' in TOOLS


def test_every_interface_is_told_with_its_variables() -> None:
    for name, api in APIS.items():
        assert {f"`{one}`" for one in (name, api.key, api.base_url) if one} <= set(re.findall(r"`[^`\n]+`", MODELS)), (
            name
        )


def test_every_reply_format_and_every_passing_failure_is_told() -> None:
    told = re.findall(r"^\| `(\w+)` \| [^|]+ \| [^|]+ \|$", MODELS.split("## How a reply", 1)[1], re.MULTILINE)
    assert set(told) - {"reply_format"} == set(get_args(ReplyFormat))
    [row] = [line for line in MODELS.splitlines() if "Retry-After" in line]
    assert {int(code) for code in re.findall(r"\b[45]\d\d\b", row)} == {*exchange._TRANSIENT, *exchange._NEVER}
