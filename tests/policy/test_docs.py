"""The policy reference: its examples load, and no key is missing from it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from ahp.policy import control, layers, models
from ahp.policy.lint import compare_evaluators
from ahp.policy.model_types import Keys
from ahp.policy.problems import PolicyError
from ahp.policy.sources import TextSource
from ahp.protocol.triggers import TRIGGERS

PAGE = (Path(__file__).parents[2] / "docs" / "policy.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_every_example_does_what_the_page_says(example: str) -> None:
    refused = re.match(r"# refused: (.*)\n", example)
    if refused is None:
        compare_evaluators(layers.load(TextSource(example)))
        return
    with pytest.raises(PolicyError) as caught:
        layers.load(TextSource(example))
    assert refused.group(1) in str(caught.value)


def test_the_page_names_every_key_and_trigger_and_every_key_has_an_example() -> None:
    classes = [
        found
        for module in (models, control)
        for found in vars(module).values()
        if isinstance(found, type) and issubclass(found, Keys) and found is not Keys
    ]
    examples = "\n".join(EXAMPLES)
    for found in classes:
        assert issubclass(found, BaseModel)
        for name, field in found.model_fields.items():
            key = field.alias or name
            assert re.search(rf"\b{key}:", examples) or key in ("aid", "min"), f"{found.__name__}.{key} has no example"
            assert key in PAGE
    for trigger in TRIGGERS:
        assert f"`{trigger}`" in PAGE
