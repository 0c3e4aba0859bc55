"""Every recipe of docs/recipes.md is a policy that loads, that lint has nothing against, and that does what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from ahp.hosts import policy_test
from ahp.policy import cases, layers, lint
from ahp.policy.sources import TextSource

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "docs" / "recipes.md").read_text(encoding="utf-8")
RECIPES = {
    re.sub(r"[^a-z]+", "-", title.lower()).strip("-"): re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    for title, text in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
}
SCANNERS = (HERE.parents[1] / "hooks" / "secret-scanners.yaml").read_text(encoding="utf-8")
GITLEAKS = RECIPES["secret-scanners"][0]
RECIPES["secret-scanners"] = [SCANNERS]  # the page shows the part about gitleaks
OWN = {
    "secrets": {"own-keys", "key-files", "no-secrets"},
    "secret-scanners": {"gitleaks-clean", "detect-secrets-clean", "credsweeper-clean"},
}  # the others of the core pack are tested with it


def test_there_are_eleven() -> None:
    assert set(RECIPES) == {path.stem for path in HERE.glob("*.yaml")}
    assert len(RECIPES) == 11 and all(len(blocks) == 1 for blocks in RECIPES.values())


def test_the_page_shows_a_part_of_the_file_about_scanners() -> None:
    whole, part = yaml.safe_load(SCANNERS), yaml.safe_load(GITLEAKS)
    assert part["facts"] == {"gitleaks": whole["facts"]["gitleaks"]}
    assert part["rules"] == {"gitleaks-clean": whole["rules"]["gitleaks-clean"]}


@pytest.mark.slow
@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_is_valid_and_lint_has_nothing_to_advise(name: str) -> None:
    policy = layers.load(TextSource(RECIPES[name][0], name))
    lint.compare_evaluators(policy)
    assert [str(problem) for problem in lint.advise(policy)] == []


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_speaks_where_it_should_and_nowhere_else(name: str) -> None:
    policy = layers.load(TextSource(RECIPES[name][0], name))
    report = policy_test.run(policy, cases.read((HERE / f"{name}.yaml").read_bytes(), f"{name}.yaml", policy))
    assert [f"{o.case.place} {o.case.keys.name}: {fault}" for o in report.failed for fault in o.faults] == []
    for rule in report.rules:
        if rule.rule in OWN.get(name, {rule.rule}) and rule.trigger != "pre-merge-commit":
            assert rule.spoke or (rule.rule == "no-secrets" and rule.trigger == "pre-tool-use"), rule
            assert rule.spoke < rule.asked, f"{rule} is never asked in vain"
