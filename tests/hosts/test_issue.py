from __future__ import annotations

from pathlib import Path

import pytest

from ahp.hosts import issue as host
from ahp.hosts.issue import Moved, move
from ahp.system.errors import AhpError
from ahp.tickets import life
from ahp.tickets.frontmatter import TicketError
from ahp.tickets.lint import lint
from ahp.tickets.tracker import Tracker
from tests.conftest import Repo
from tests.tickets.memory import draft, place

POLICY = """\
version: 1
rules:
  open-boxes: {at: pre-issue-submit, block: checklist.incomplete_count > 0}
  waits: {at: pre-issue-start, block: issue.unmet_dependency_count > 0}
  large: {at: pre-issue-submit, prompt: files.changed_count > 3}
  told: {at: post-issue-submit, aid: issue.stage == 'review'}
  unreviewed: {at: pre-issue-close, block: checklist.review.total == 0}
"""
PATH = place("FEAT-0001")
BRANCH = "FEAT-0001-a-thing"


@pytest.fixture
def lab(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A project with a policy and a ticket, seen from its top."""
    repo.commit("first", **{".ahp/hooks.yaml": POLICY, PATH: draft("FEAT-0001"), "README.md": "x\n"})
    monkeypatch.chdir(repo.root)
    return repo


def stage(lab: Repo, path: str = PATH) -> str:
    return next(line for line in (lab.root / path).read_text().splitlines() if line.startswith("stage"))


def state(lab: Repo) -> tuple[str, str, str]:
    """Branch, what git sees changed, and the ticket's stage."""
    return lab.git("symbolic-ref", "--short", "HEAD"), lab.git("status", "--porcelain"), stage(lab)


def tick(lab: Repo) -> None:
    path = lab.root / PATH
    path.write_text(path.read_text().replace("- [ ]", "- [x]"))


def rules(moved: Moved) -> list[tuple[str, str]]:
    return [(str(signal.context["rule"]).partition("/")[0], signal.intensity) for signal in moved.before.signals]


def test_an_issue_goes_from_draft_to_closed_through_the_gate(lab: Repo) -> None:
    started = move("start", "feat-0001")
    assert (started.before.decision, started.branch) == ("allow", BRANCH)
    assert state(lab) == (BRANCH, f" M {PATH}", "stage: doing")
    lab.commit("work", **{"src/a.py": "a\n"})
    lab.write("src/b.py")

    refused = move("submit", "FEAT-0001")
    assert (refused.denied, rules(refused)) == (True, [("open-boxes", "block")])
    assert stage(lab) == "stage: doing"

    tick(lab)
    handed = move("submit", "FEAT-0001")
    assert (handed.before.decision, stage(lab)) == ("allow", "stage: review")
    assert "files:\n- src/a.py\n- src/b.py\n" in (lab.root / PATH).read_text()
    assert handed.after is not None
    assert [signal.intensity for signal in handed.after.signals] == ["aid"]

    assert move("close", "FEAT-0001").denied
    with (lab.root / PATH).open("a") as file:
        file.write("## Review\n- [x] read\n")
    closed = move("close", "FEAT-0001", "implemented")
    assert closed.plan is not None
    assert closed.plan.new_path == place("FEAT-0001", "closed")
    assert not (lab.root / PATH).exists()
    text = (lab.root / closed.plan.new_path).read_text()
    assert "status: closed\nstage: done\n" in text
    assert "solution: implemented\n" in text


def test_a_refusal_changes_nothing(lab: Repo) -> None:
    (lab.root / PATH).write_text(draft("FEAT-0001", "FEAT-0404"))
    before = state(lab)
    assert move("start", "FEAT-0001").denied
    assert state(lab) == before
    assert lab.git("branch", "--list", "FEAT*") == ""


def test_a_warning_lets_the_step_pass(lab: Repo) -> None:
    move("start", "FEAT-0001")
    tick(lab)
    for name in "abcd":
        lab.write(name)
    moved = move("submit", "FEAT-0001")
    assert (moved.before.decision, rules(moved), stage(lab)) == ("warn", [("large", "prompt")], "stage: review")


def test_start_stays_on_the_branch_of_the_issue_or_switches_to_it(lab: Repo) -> None:
    lab.git("checkout", "-q", "-b", "feat/FEAT-0001-mine")
    assert move("start", "FEAT-0001").branch == "feat/FEAT-0001-mine"
    lab.git("commit", "-qam", "started")
    lab.git("checkout", "-q", "main")
    assert stage(lab) == "stage: draft"
    moved = move("start", "FEAT-0001")
    assert moved.plan is not None
    assert (moved.branch, moved.plan.after) == ("feat/FEAT-0001-mine", moved.plan.before)
    assert state(lab) == ("feat/FEAT-0001-mine", "", "stage: doing")


def test_two_branches_of_an_issue_are_an_error(lab: Repo) -> None:
    lab.git("branch", "FEAT-0001-a")
    lab.git("branch", "FEAT-0001-b")
    with pytest.raises(AhpError, match="FEAT-0001 has 2 branches, FEAT-0001-a, FEAT-0001-b"):
        move("start", "FEAT-0001")
    assert state(lab) == ("main", "", "stage: draft")


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("detached", [True, False])
def test_a_start_that_fails_goes_back(known: bool, detached: bool, lab: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    if known:
        lab.git("branch", BRANCH)
    if detached:
        lab.git("checkout", "-q", "--detach")

    def fail(plan: life.Plan, root: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(life.Plan, "carry_out", fail)
    with pytest.raises(KeyboardInterrupt):
        move("start", "FEAT-0001")
    assert lab.git("rev-parse", "--abbrev-ref", "HEAD") == ("HEAD" if detached else "main")
    assert lab.git("branch", "--list", "FEAT*").strip() == (BRANCH if known else "")
    assert stage(lab) == "stage: draft"


def test_a_start_before_the_first_commit_makes_the_branch_and_goes_back(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write(PATH, draft("FEAT-0001"))
    monkeypatch.chdir(repo.root)
    with monkeypatch.context() as patch:
        patch.setattr(life.Plan, "carry_out", lambda *a: (_ for _ in ()).throw(AhpError("disk full")))
        with pytest.raises(AhpError, match="disk full"):
            move("start", "FEAT-0001")
    assert repo.git("symbolic-ref", "--short", "HEAD") == "main"
    assert move("start", "FEAT-0001").branch == BRANCH
    assert repo.git("symbolic-ref", "--short", "HEAD") == BRANCH


def test_the_ticket_of_the_issues_own_branch_counts(lab: Repo) -> None:
    lab.git("checkout", "-q", "-b", BRANCH)
    (lab.root / PATH).write_text(draft("FEAT-0001").replace("stage: draft", "stage: done"))
    lab.git("commit", "-qam", "done there")
    lab.git("checkout", "-q", "main")
    with pytest.raises(TicketError, match="which is in `done`"):
        move("start", "FEAT-0001")
    assert state(lab) == ("main", "", "stage: draft")


def test_git_refusing_to_switch_changes_nothing(lab: Repo) -> None:
    lab.git("checkout", "-q", "-b", BRANCH)
    lab.commit("other", **{"README.md": "other\n"})
    lab.git("checkout", "-q", "main")
    lab.write("README.md", "mine\n")
    before = state(lab)
    with pytest.raises(AhpError, match="git switch failed"):
        move("start", "FEAT-0001")
    assert state(lab) == before


@pytest.mark.parametrize(("where", "said"), [("main", "on main; run: ahp issue start"), ("", "on a detached head")])
def test_a_submit_from_elsewhere_is_an_error(where: str, said: str, lab: Repo) -> None:
    (lab.root / PATH).write_text(draft("FEAT-0001").replace("stage: draft", "stage: doing"))
    if not where:
        lab.git("checkout", "-q", "--detach")
    with pytest.raises(AhpError, match=said):
        move("submit", "FEAT-0001")
    lab.git("branch", BRANCH)
    with pytest.raises(AhpError, match=f"run: git switch {BRANCH}"):
        move("submit", "FEAT-0001")


def test_a_step_that_cannot_be_made_is_not_asked_about(lab: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(event: object) -> None:
        raise AssertionError("the gate was asked")

    monkeypatch.setattr(host, "decide", asked)
    with pytest.raises(TicketError, match="start it first"):
        move("submit", "FEAT-0001")
    with pytest.raises(TicketError, match="no ticket FEAT-0404"):
        move("start", "FEAT-0404")
    with pytest.raises(TicketError, match="is no issue id"):
        move("start", "login")


def test_a_ticket_that_cannot_be_read_is_refused(lab: Repo) -> None:
    (lab.root / PATH).write_text("---\nid: FEAT-0001\nid: FEAT-0001\n---\n")
    with pytest.raises(TicketError, match=r"a-thing\.md:3: "):
        move("start", "FEAT-0001")


def test_an_invalid_policy_stops_the_step(lab: Repo) -> None:
    lab.git("update-ref", "-d", "HEAD")  # nobody has committed a policy, so the file alone judges
    lab.write(".ahp/hooks.yaml", "version: 1\nrules: {x: {at: pre-issue-start, block: nonsense > 1}}\n")
    before = state(lab)
    with pytest.raises(AhpError):
        move("start", "FEAT-0001")
    assert state(lab) == before


def test_what_goes_wrong_after_the_step_is_a_note(lab: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    real = host.decide

    def failing(event: object) -> object:
        if event.trigger.startswith("post-"):  # type: ignore[attr-defined]
            raise AhpError("no journal")
        return real(event)  # type: ignore[arg-type]

    monkeypatch.setattr(host, "decide", failing)
    moved = move("start", "FEAT-0001")
    assert moved.notes == ["FEAT-0001 has moved; what follows could not be judged: no journal"]
    assert (moved.after, moved.as_dict()["after"], stage(lab)) == (None, None, "stage: doing")


def test_issues_live_in_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AhpError, match="issues live in a git repository"):
        move("start", "FEAT-0001")


def test_a_project_in_a_folder_has_issues_of_its_own(lab: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.commit("shop", **{"shop/.monoco/project.yaml": "", f"shop/{PATH}": draft("FEAT-0001").replace("[ ]", "[x]")})
    monkeypatch.chdir(lab.root / "shop")
    moved = move("start", "FEAT-0001")
    assert moved.plan is not None
    assert (moved.plan.path, stage(lab)) == (f"shop/{PATH}", "stage: draft")
    assert move("submit", "FEAT-0001").before.decision == "allow"
    monkeypatch.chdir(lab.root)
    lab.git("rm", "-qf", PATH)
    assert not move("submit", "FEAT-0001").denied  # from anywhere, when only one project has it


def test_lint_names_the_place_of_a_ticket_whose_close_was_killed(lab: Repo) -> None:
    (lab.root / PATH).write_text(draft("FEAT-0001").replace("stage: draft", "stage: review"))
    closed = life.close(Tracker(str(lab.root)).tickets.get("FEAT-0001"), "Issues/").after
    (lab.root / PATH).write_bytes(closed)
    assert str(lint(Tracker(str(lab.root)).tickets)[0]) == (
        f"{PATH}: its status is closed; it belongs at {place('FEAT-0001', 'closed')}"
    )
