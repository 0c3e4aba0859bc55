"""Every YAML example that a page shows is what it claims to be: it loads as a policy, or as the file it stands for."""

from __future__ import annotations

import datetime
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from ahp.policy import cases, layers, waivers
from ahp.policy.lint import advise, compare_evaluators
from ahp.policy.models import HooksFile
from ahp.policy.problems import PolicyError
from ahp.policy.sources import TextSource
from ahp.runner.config import AgentConfig
from ahp.runner.scripted import load_script

PROJECT = Path(__file__).parents[1]
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^( *)```ya?ml\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
EXAMPLES = [
    pytest.param(page, found.group(2), id=f"{page.name}-{page.read_text()[: found.start()].count(chr(10)) + 1}")
    for page in PAGES
    for found in BLOCK.finditer(page.read_text())
]
DIGEST = "sha256:" + "0" * 64


def is_policy(example: Any) -> bool:
    keys = {field.alias or name for name, field in HooksFile.model_fields.items()}
    return isinstance(example, dict) and bool(example.keys() & keys)


@pytest.mark.no_cover
@pytest.mark.parametrize(("page", "text"), EXAMPLES)
def test_an_example_loads(page: Path, text: str, tmp_path: Path) -> None:
    refused = re.match(r"# refused: (.*)\n", text)
    if refused is not None:
        with pytest.raises(PolicyError, match=re.escape(refused.group(1))):
            layers.load(TextSource(text))
        return
    example = yaml.safe_load(text)
    if is_policy(example):
        policy = layers.load(TextSource(text))
        compare_evaluators(policy)
        read = page.read_text()  # a limit may be read in an example before or after
        unread = [one.what for one in advise(policy) if "no rule reads the limit" in one.what]
        assert [what for what in unread if f"limits.{what.split('`')[1]}" not in read] == []
    elif isinstance(example, dict) and "answers" in example:
        (tmp_path / "script.yaml").write_text(text)
        assert load_script(str(tmp_path / "script.yaml")).task
    elif isinstance(example, dict):
        config = AgentConfig.model_validate(example)
        assert config.checks or config.mcp_servers
    elif "expires" in example[0]:
        today = example[0]["expires"] - datetime.timedelta(days=10)
        assert waivers.parse(text.replace("sha256:…", DIGEST).encode(), today=today).warnings(today) == []
    else:
        rules = {signal["rule"] for one in example for signal in one["expect"].get("signals", ())}
        at = sorted({one["trigger"] for one in example})
        policy = layers.load(
            TextSource(
                "rules:\n" + "".join(f"  {rule}: {{at: {at}, block: branch.name == 'main'}}\n" for rule in rules)
            )
        )
        assert len(cases.read(text.encode(), "tests.yaml", policy)) == len(example)


def test_there_are_examples_on_many_pages() -> None:
    assert len({str(one.values[0]) for one in EXAMPLES}) >= 10
