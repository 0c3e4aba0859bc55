"""`.ahp/waivers.yaml`: compulsory expiry, bound to the rule's digest, never hidden (design §7)."""

from __future__ import annotations

import datetime

import pytest
from pydantic import ValidationError

from ahp.policy import waivers
from ahp.policy.problems import PolicyError

TODAY = datetime.date(2026, 2, 9)
OLD, NEW = "sha256:" + "a" * 64, "sha256:" + "b" * 64
FILE = f"""\
- rule: size/1
  subject: FEAT-1
  reason: generated code
  approver: ann
  expires: 2026-03-01
  digest: {OLD}
- {{rule: secrets/1, subject: "*", reason: test keys, approver: ann, expires: "2026-02-10"}}
"""


def parse(text: str) -> waivers.Waivers:
    return waivers.parse(text.encode(), today=TODAY)


def test_a_waiver_excuses_its_rule_on_its_subject_until_its_last_day() -> None:
    given = parse(FILE)
    last = datetime.date(2026, 3, 1)
    assert given.find("size/1", "FEAT-1", OLD, TODAY) is given.waivers[0]
    assert given.find("size/1", "FEAT-1", OLD, last) is given.waivers[0]
    assert given.find("size/1", "FEAT-1", OLD, last + datetime.timedelta(days=1)) is None
    assert given.find("size/1", "FEAT-2", OLD, TODAY) is None
    assert given.find("size/2", "FEAT-1", OLD, TODAY) is None
    assert given.find("secrets/1", "anything", NEW, TODAY) is given.waivers[1]


def test_a_rule_that_changed_is_not_excused_any_more() -> None:
    assert parse(FILE).find("size/1", "FEAT-1", NEW, TODAY) is None


def test_without_a_digest_the_first_use_binds() -> None:
    given = parse(FILE)
    seen = {"secrets/1 * 2026-02-10": OLD}
    assert given.find("secrets/1", "main", OLD, TODAY, seen.get)
    assert given.find("secrets/1", "main", NEW, TODAY, seen.get) is None


def test_the_waiver_for_the_subject_comes_before_the_one_for_all() -> None:
    text = (
        FILE
        + FILE.replace("FEAT-1", '"*"').splitlines(keepends=True)[0]
        + "".join(FILE.replace("FEAT-1", '"*"').splitlines(keepends=True)[1:6])
    )
    given = parse(text)
    found = given.find("size/1", "FEAT-1", OLD, TODAY)
    assert found is not None and found.subject == "FEAT-1"
    found = given.find("size/1", "main", OLD, TODAY)
    assert found is not None and found.subject == "*"


def test_one_hears_of_an_expiry_a_week_before_and_of_all_that_does_not_hold() -> None:
    given = parse(FILE)
    assert given.warnings(TODAY) == ["waiver of secrets/1 on * expires tomorrow"]
    assert given.warnings(datetime.date(2026, 2, 10))[0].endswith("expires today")
    assert given.warnings(datetime.date(2026, 2, 22))[0] == "waiver of size/1 on FEAT-1 expires in 7 days"
    assert given.warnings(datetime.date(2026, 2, 21))[0].endswith("expired on 2026-02-10")
    assert given.warnings(TODAY, {"size/1": NEW}) == [
        "waiver of size/1 on FEAT-1 does not hold: the rule has changed since it was approved",
        "waiver of secrets/1 on *: the policy has no such rule; valid are size/1",
    ]
    assert given.warnings(TODAY, {"size": NEW, "secrets/1": NEW})[0].endswith("no such rule; did you mean `size`?")
    assert given.warnings(TODAY, {"size/1": OLD, "secrets/1": NEW}) == [
        f"waiver of secrets/1 on * is bound to no digest; add `digest: {NEW}`"
    ]


@pytest.mark.parametrize(
    ("subject", "told"),
    [
        ("feature/*", "a subject is no pattern; name the issue, branch or session, or write `*` for all"),
        ("**", "a subject is no pattern"),
        ("FEAT-?", "a subject is no pattern"),
        ("refs/heads/feature/a", "a branch is its short name; write `feature/a`"),
    ],
)
def test_a_subject_that_nothing_has_is_told(subject: str, told: str) -> None:
    given = parse(FILE.replace("FEAT-1", f'"{subject}"'))
    said = given.warnings(datetime.date(2026, 2, 3), {"size/1": OLD, "secrets/1": NEW})
    assert said[0].startswith(f"waiver of size/1 on {subject} never holds: {told}")
    assert len(said) == 2 and " on * is bound to no digest" in said[1]


def test_a_waiver_of_another_rule_or_for_a_pattern_is_void() -> None:
    size, secrets = parse(FILE).waivers
    assert [size.is_void({"size/1": digest}) for digest in (OLD, NEW)] == [False, True]
    assert size.is_void({"other": OLD}) and not secrets.is_void({"secrets/1": NEW})
    assert size.model_copy(update={"subject": "topic/*"}).is_void({"size/1": OLD})


def test_no_file_content_is_no_waiver() -> None:
    assert parse("").waivers == []
    assert parse("[]").waivers == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (FILE.replace("  expires: 2026-03-01\n", ""), "waivers.yaml:1:3: a waiver needs `expires`"),
        (FILE.replace("2026-03-01", "2026-06-01"), "waivers.yaml:5:12: expires more than 90 days ahead"),
        (FILE.replace("2026-03-01", "soon"), "waivers.yaml:5:12: `expires` is a day like 2026-02-09, not "),
        (FILE.replace("approver: ann\n", "aprover: ann\n"), "unknown key 'aprover'; did you mean `approver`?"),
        (FILE.replace(OLD, "sha256:short"), "waivers.yaml:6:11: `digest` is `sha256:` and 64"),
        (FILE.replace("FEAT-1", '"a\\nb"'), "waivers.yaml:2:12: `subject` is a text of one line, not 'a\\nb'"),
        (FILE.replace("size/1", "7"), "waivers.yaml:1:9: `rule` is a text of one line, not 7"),
        (FILE.replace("2026-03-01", "20260301"), "waivers.yaml:5:12: `expires` is a day like 2026-02-09, not "),
        ("rule: size/1", "waivers.yaml:1:1: the file is a list of waivers: each begins with `- rule: …`"),
        (FILE.replace("expires:", "until:"), "waivers.yaml:5:3: unknown key 'until'; it is called `expires`"),
        ("- 5", "waivers.yaml:1:3:"),
        ("[{", "waivers.yaml:"),
    ],
)
def test_mistakes_are_told_with_their_place(text: str, told: str) -> None:
    with pytest.raises(PolicyError) as error:
        parse(text)
    assert told in str(error.value)


def test_an_expiry_gone_by_does_not_break_the_gate() -> None:
    assert parse(FILE.replace("2026-03-01", "2020-01-01")).find("size/1", "FEAT-1", OLD, TODAY) is None


def test_waivers_are_listed_on_one_line_each() -> None:
    assert waivers.texts(parse(FILE).waivers)[0] == "size/1 on FEAT-1 until 2026-03-01, by ann: generated code"


def test_a_waiver_that_was_read_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        parse(FILE).waivers[0].subject = "*"


def test_today_is_a_day_in_utc() -> None:
    assert abs(waivers.now() - datetime.datetime.now(datetime.UTC).date()) <= datetime.timedelta(days=1)
