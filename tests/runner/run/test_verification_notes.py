"""What a person has to know of a verification beside its result."""

from __future__ import annotations

from ahp.runner.run.snapshot import Snapshot
from ahp.runner.run.verification_notes import VerificationNotes
from ahp.runner.tools.catalog import standard_tools
from ahp.runner.verification.result import VerificationResult
from tests.conftest import Repo
from tests.runner.runs import Scene, call

GREEN, RED = VerificationResult("passed", "1 test passed"), VerificationResult("test_failure", "1 test failed")
A, B = Snapshot("c", {"a": "1"}), Snapshot("c", {"a": "2", "b": ""})
FLAKY = "Verified red, then green, though no file had changed: a test may be flaky."


def told(*read: tuple[VerificationResult, Snapshot | None, Snapshot | None]) -> list[str]:
    notes = VerificationNotes()
    for found, before, after in read:
        notes.read(found, before, after)
    return notes.notes


def test_a_test_that_passes_the_second_time_may_be_flaky() -> None:
    assert told((RED, A, A), (GREEN, A, A)) == [FLAKY]
    assert told((RED, A, A), (GREEN, B, B)) == []
    assert told((RED, A, A), (RED, A, A)) == []
    assert told((GREEN, A, A), (GREEN, A, A)) == []
    assert told((RED, None, None), (GREEN, None, None)) == []


def test_files_that_changed_meanwhile_were_not_verified() -> None:
    [note] = told((GREEN, A, B))
    assert note.endswith("by its tests or by somebody else: a, b. What they hold now was not verified.")
    assert told((GREEN, A, B), (GREEN, A, B)) == [note]
    assert told((GREEN, A, None), (GREEN, None, A)) == []


def test_what_could_not_be_checked_last_is_told() -> None:
    crash = VerificationResult("crash", "it broke")
    assert told((crash, A, A)) == ["not verified (crash): it broke"]
    assert told((crash, A, A), (GREEN, A, A)) == []


class Generates:
    """Tests that write a file, and fail the first time."""

    def __init__(self, repo: Repo) -> None:
        self.repo, self.runs = repo, 0

    def verify(self, root: str, timeout_s: float) -> VerificationResult:
        self.runs += 1
        self.repo.write("made.txt", "by the tests")
        return RED if self.runs == 1 else GREEN


def test_what_a_pass_has_to_say_beside_itself_is_told() -> None:
    assert told((VerificationResult("passed", "1 test passed", cautions=["It alters pytest.ini."]), A, A)) == [
        "It alters pytest.ini."
    ]
    weakened = VerificationResult("weakened", "1 test passed, 1 left out")
    assert told((weakened, A, A)) == ["not verified (weakened): 1 test passed, 1 left out"]


def test_the_person_reads_it_at_the_end_of_the_run(repo: Repo) -> None:
    repo.commit()
    scene = Scene(
        [call("write_file", path="x", content="1"), "done", "done"],
        tools=standard_tools(print),
        root=str(repo.root),
        verifiers={"auto": Generates(repo)},
    )
    assert scene.turn.ok
    [note] = scene.turn.notes
    assert "somebody else: made.txt." in note
