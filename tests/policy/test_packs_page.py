"""docs/packs.md names every rule of every pack, where it is asked and how strongly; its example loads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ahp.policy import layers
from ahp.policy.jsonschema import schema
from ahp.policy.sources import TextSource, packs

PAGE = (Path(__file__).parents[2] / "docs" / "packs.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("pack", sorted({*packs()} - {"monoco", "tickets-zh"}))
def test_the_page_tells_of_every_rule(pack: str) -> None:
    section = PAGE.split(f"\n## {pack}\n")[1].split("\n## ")[0]
    for rule in layers.load(TextSource(f"extends: [{pack}]")).rules:
        (line,) = [row for row in section.splitlines() if f"`{rule.key}`" in row]
        assert rule.trigger in line or f"\nAt {rule.trigger}:\n" in section
        assert "as in python" in line or ("**block**" in line) == (rule.intensity["default"] == "block")


def test_the_example_loads() -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    by_key = {rule.key: rule for rule in layers.load(TextSource(example)).rules}
    assert by_key["binary-files"].shadow and by_key["change-size"].trigger == "pre-push"


def test_every_key_of_the_schema_is_described() -> None:
    def bare(node: object, path: str) -> list[str]:
        if isinstance(node, list):
            return [found for item in node for found in bare(item, path)]
        if not isinstance(node, dict):
            return []
        keys = node.get("properties", {})
        missing = [f"{path}.{key}" for key, value in keys.items() if not value.get("description")]
        return missing + [found for key, value in node.items() for found in bare(value, f"{path}.{key}")]

    assert bare(schema(), "") == []
