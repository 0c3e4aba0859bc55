from __future__ import annotations

import pytest

from .conftest import Errors

TEAM = "limits: {most: 5, least: 1}\nrules: {r: {at: pre-push, block: files.changed_count > limits.most}}"
ALWAYS = "`r` of team.yaml cannot use -1 as `limits.most`: this condition is always true"


def test_a_limit_of_a_later_file_is_to_blame(errors: Errors) -> None:
    assert errors("extends: [team.yaml]\nlimits: {most: -1}", team__yaml=TEAM) == [f"hooks.yaml:2:16: {ALWAYS}"]


def test_so_it_is_where_the_extended_file_gives_it_no_value(errors: Errors) -> None:
    own = TEAM.replace("most: 5, ", "")
    assert errors("extends: [team.yaml]\nlimits: {most: -1}", team__yaml=own) == [f"hooks.yaml:2:16: {ALWAYS}"]
    [line] = errors("extends: [team.yaml]\nlimits: {most: x}", team__yaml=own)
    assert line.startswith("hooks.yaml:2:16: `r` of team.yaml cannot use 'x' as `limits.most`: '>' compares two")


def test_of_two_wrong_limits_one_is_told(errors: Errors) -> None:
    both = TEAM.replace("> limits.most", "> limits.most or files.changed_count > limits.least")
    [line] = errors("extends: [team.yaml]\nlimits: {most: -1, least: -1}", team__yaml=both)
    assert line.startswith("hooks.yaml:2:16: `r` of team.yaml cannot use -1 as `limits.most`")


@pytest.mark.parametrize("environment", ["environment: {ci: files.changed_count > limits.most}", ""])
def test_a_condition_is_told_by_its_rule_or_as_an_environment_s(errors: Errors, environment: str) -> None:
    team = TEAM if not environment else f"limits: {{most: 5}}\n{environment}"
    [line] = errors("extends: [team.yaml]\nlimits: {most: -1}", team__yaml=team)
    assert ("a condition of `environment` of team.yaml" if environment else "`r` of team.yaml") in line


@pytest.mark.parametrize("wrong", ["or files.changed_count >= 0", "and nope", "and files.changed_count > 'x'"])
def test_a_condition_that_is_wrong_with_any_limit_is_told_at_its_place(errors: Errors, wrong: str) -> None:
    team = TEAM.replace("> limits.most", f"> limits.most {wrong}")
    for later in ("7", "-1"):
        found = errors(f"extends: [team.yaml]\nlimits: {{most: {later}}}", team__yaml=team)
        assert found and all(line.startswith("team.yaml:2:") for line in found), found


def test_a_pack_s_own_limit_is_never_to_blame(errors: Errors) -> None:
    rule = "rules: {r: {at: pre-push, block: files.changed_count > 5 and files.changed_count + limits.max_files < 3}}"
    [line] = errors(f"extends: [core]\n{rule}")
    assert line.startswith("hooks.yaml:2:"), line


def test_a_pack_that_a_later_layer_extends_meets_limits_of_an_earlier_one(errors: Errors) -> None:
    [line] = errors("limits: {max_file_bytes: -1}\nrules: {}", "", "extends: [core]")
    assert line.startswith("hooks.yaml:1:26: `large-files` of pack core cannot use -1"), line
