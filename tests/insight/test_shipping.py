"""`ahp log ship`: each record reaches a receiver of the protocol at least once, from where the last time ended."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click import Abort
from click.testing import CliRunner, Result

from ahp.cli import log as command
from ahp.cli.main import run
from ahp.insight import collector, shipping
from ahp.journal.append import Journal
from ahp.journal.segments import Line
from ahp.system import files
from ahp.system.errors import AhpError
from tests.conftest import Repo
from tests.hosts.git import gated as making
from tests.journal.story import DAY, Story

from .receiver import Receiver, receiving


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    for name in [name for name in os.environ if name.startswith("OTEL_") or name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    monkeypatch.setattr(shipping, "_RECORDS", 3)
    with receiving() as running:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", running.url)
        yield running


@pytest.fixture
def story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Story:
    monkeypatch.chdir(tmp_path)
    story = Story(Journal(str(tmp_path / ".ahp")))
    for _ in range(6):
        story.signal()
        story.now += DAY
    return story


def ship(*arguments: str) -> Result:
    return CliRunner().invoke(command.command, ["ship", *arguments], catch_exceptions=False, standalone_mode=False)


def logged(story: Story) -> list[str]:
    paths = sorted(
        Path(story.journal.folder).glob("signals*.jsonl"), key=lambda path: (path.name == "signals.jsonl", path.name)
    )
    return [line for path in paths for line in path.read_text().splitlines()]


def bodies(receiver: Receiver) -> list[str]:
    return [record.body.string_value for record in receiver.records]


def test_only_what_is_new_is_sent(story: Story, receiver: Receiver) -> None:
    before = logged(story)
    assert ship().output == f"{len(before)} records sent to {receiver.url}/v1/logs\n"
    assert bodies(receiver) == before
    story.signal()
    assert ship().output.startswith("1 record sent")
    assert ship().output.startswith("0 records sent")
    assert bodies(receiver) == logged(story)
    assert len(receiver.requests) == -(-len(before) // 3) + 1 + len(receiver.heartbeats)


def test_each_run_ends_with_how_far_the_log_has_come(story: Story, receiver: Receiver) -> None:
    for _ in range(2):
        ship()
    story.signal()
    ship()
    told = [{one.key: one.value for one in beat.attributes} for beat in receiver.heartbeats]
    lines = logged(story)
    assert [one["ahp.n"].int_value for one in told] == [len(lines) - 1, len(lines) - 1, len(lines)]
    assert told[-1]["ahp.log.head"].string_value == hashlib.sha256(lines[-1].encode()).hexdigest()
    assert {one["ahp.kind"].string_value for one in told} == {"heartbeat"}


def test_all_from_a_number_on_is_sent_again(story: Story, receiver: Receiver) -> None:
    story.journal.rotate_at = 1
    story.signal()
    story.signal()
    ship()
    before = len(receiver.records)
    assert ship("--from", "4").output.startswith(f"{before - 3} records sent")
    assert bodies(receiver) == [*logged(story), *logged(story)[3:]]
    assert ship().output.startswith("0 records")


def test_records_say_whose_they_are(
    repo: Repo, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(repo.root)
    repo.git("remote", "add", "origin", "https://ann:secret@git.example:8443/team/app.git?token=secret")
    repo.commit(
        "begin", **{".ahp/hooks.yaml": "version: 1\nrules: {r: {at: pre-commit, prompt: \"branch.name == 'x'\"}}\n"}
    )
    assert run(["install", "git"]) == 0
    head = repo.commit("more", **{"a.txt": "a\n"})
    assert ship().return_value == 0
    told = {one.key: one.value.string_value for one in receiver.requests[0].resource_logs[0].resource.attributes}
    genesis = json.loads(bodies(receiver)[0])
    host = (Path.home() / ".ahp/host").read_text("ascii")
    assert (genesis["repository"], genesis["host"]) == ("git.example/team/app", host)
    assert (told["ahp.repository"], told["host.id"]) == ("git.example/team/app", host)
    assert told["service.instance.id"] == told["ahp.log"] == genesis["id"]
    assert told["ahp.policy.commit"] == repo.git("rev-parse", f"{head}~1")
    assert "secret" not in "".join(bodies(receiver))
    kinds = [one.value.string_value for r in receiver.records for one in r.attributes if one.key == "ahp.kind"]
    assert kinds == [json.loads(body)["kind"] for body in bodies(receiver)]


def test_rotation_between_and_meanwhile(story: Story, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    ship()
    story.journal.rotate_at = 1
    story.signal()
    story.signal()
    story.journal.rotate_at = 1 << 30
    story.signal()
    lines, rotated = shipping._lines, list[int]()

    def rotates(*args: Any) -> Iterator[Line]:
        for line in lines(*args):
            yield line
            if not rotated:
                rotated.append(1)
                story.journal.rotate_at = 1
                story.signal()
                story.journal.rotate_at = 1 << 30

    monkeypatch.setattr(shipping, "_lines", rotates)
    ship()
    assert rotated
    assert bodies(receiver) == logged(story)


def test_pruned_before_it_was_sent(story: Story, receiver: Receiver) -> None:
    ship()
    story.journal.rotate_at = 1
    for _ in range(3):
        story.signal()
    for number in (1, 2):
        (Path(story.journal.folder) / f"signals.{number}.jsonl").unlink()
    assert "pruned before they were sent: " in ship().output
    assert bodies(receiver)[-len(logged(story)) :] == logged(story)


def test_killed_between_sending_and_noting(story: Story, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    saves: list[str] = []
    replace = files.replace

    def killed(path: str, data: bytes) -> None:
        saves.append(path)
        if len(saves) == 2:
            raise KeyboardInterrupt
        replace(path, data)

    monkeypatch.setattr(files, "replace", killed)
    with pytest.raises(Abort):
        ship()
    monkeypatch.setattr(files, "replace", replace)
    ship()
    uids = [one.value.string_value for r in receiver.records for one in r.attributes if one.key == "log.record.uid"]
    assert len(uids) == len(logged(story)) + 3
    assert len(set(uids)) == len(logged(story)) == len(set(bodies(receiver)))


def test_a_last_line_without_newline_is_sent_once(story: Story, receiver: Receiver) -> None:
    path = Path(story.journal.folder) / "signals.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    ship()
    path.write_bytes(whole + whole.splitlines(keepends=True)[-1][:20])
    assert ship().output.startswith("0 records")
    path.write_bytes(whole + b'{"kind": "feedback"}\n')
    ship()
    assert bodies(receiver) == logged(story)


def test_a_line_that_is_gone_has_all_sent_again(story: Story, receiver: Receiver) -> None:
    ship()
    path = Path(story.journal.folder) / "signals.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    assert "all was sent again" in ship().output
    other = Path(story.journal.folder) / "signals.jsonl"
    other.write_text(other.read_text().replace('"kind": "genesis", "id": "', '"kind": "genesis", "id": "other-'))
    assert "sent again" not in ship().output  # another log
    assert bodies(receiver)[-len(logged(story)) :] == logged(story)


@pytest.mark.parametrize(("status", "why"), [(401, "401|Unauthorized"), (400, "400|Bad Request")])
def test_a_refusal_is_told_and_nothing_is_lost(story: Story, receiver: Receiver, status: int, why: str) -> None:
    receiver.status = status
    with pytest.raises(AhpError, match=rf"(?s)127\.0\.0\.1.* did not take the records: .*({why}).*nothing is lost"):
        ship()
    receiver.status = 200
    ship()
    assert bodies(receiver) == logged(story)


def test_a_page_that_asks_who_we_are_is_no_success(story: Story, receiver: Receiver) -> None:
    receiver.status = 302
    with pytest.raises(AhpError, match="HTTP 302"):
        ship()
    receiver.status, receiver.kind = 200, "text/html"
    with pytest.raises(AhpError, match="HTTP 200 OK, text/html"):
        ship()
    receiver.kind, receiver.says = "", b"\n<html>who are you?"
    with pytest.raises(AhpError, match="HTTP 200 OK: <html>who are you"):
        ship()
    receiver.says = b"OK"
    assert ship().return_value == 0


@pytest.mark.slow
def test_an_answer_without_an_end_is_not_waited_for(
    story: Story, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collector, "_MARGIN", 0.1)
    receiver.drips = True
    try:
        with pytest.raises(AhpError, match="its answer had no end within 1 s"):
            ship()
    finally:
        receiver.drips = False
    ship()
    assert set(logged(story)) == set(bodies(receiver))


def test_nobody_listens(story: Story, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AhpError, match=r"http://127\.0\.0\.1:9/v1/logs did not take the records: Connection refused\n"):
        ship("--endpoint", "http://somebody:secret@127.0.0.1:9/")
    for endpoint in ("127.0.0.1:4318", "http://[::1", "http://localhost:port", "http://"):
        with pytest.raises(AhpError, match="no address of a collector"):
            ship("--endpoint", endpoint)
    monkeypatch.setattr(collector, "_GRPC", 9)
    with pytest.raises(AhpError, match=r"use 4318 \(HTTP\)"):
        ship("--endpoint", "http://127.0.0.1:9")
    for timeout in ("soon", "-1", "nan"):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", timeout)
        with pytest.raises(AhpError, match="write seconds, more than 0"):
            ship()


def test_each_collector_gets_all(story: Story, receiver: Receiver) -> None:
    ship()
    with receiving() as other:
        ship("--endpoint", other.url)
        assert bodies(other) == bodies(receiver) == logged(story)


def test_rejected_records_are_told_and_not_sent_again(story: Story, receiver: Receiver) -> None:
    receiver.rejects = 1
    done = ship()
    assert done.return_value == 1
    assert "1 rejected: too old" in done.output
    receiver.rejects = 0
    assert ship().output.startswith("0 records")
    receiver.says, receiver.kind = (
        b'{"partialSuccess": {"rejectedLogRecords": "2", "errorMessage": "x"}}',
        "application/json",
    )
    story.signal()
    assert "2 rejected: x" in ship().output
    assert "0 records sent" in ship().output


def test_the_standard_variables_count(story: Story, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20abc")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "team=core")
    ship()
    assert receiver.headers[0]["authorization"] == "Bearer abc"
    assert bodies(receiver) == logged(story)
    told = {one.key: one.value.string_value for one in receiver.requests[0].resource_logs[0].resource.attributes}
    assert (told["team"], told["service.name"]) == ("core", "ahp")
    assert told["ahp.log"] == json.loads(logged(story)[0])["id"]
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", "/nowhere.pem")
    story.signal()
    with pytest.raises(AhpError, match="nowhere"):
        ship("--endpoint", receiver.url.replace("http", "https"))


def test_what_is_not_as_it_should_be(story: Story, receiver: Receiver, tmp_path: Path) -> None:
    with (
        files.Lock(f"{story.journal.folder}/ship.lock"),
        pytest.raises(AhpError, match=r"ship\.lock is held by another"),
    ):
        ship()
    for damaged in ("{", '{"%s": {"log": "%s"}}'):
        ship()
        path = Path(story.journal.folder) / shipping.CURSORS
        [(name, told)] = json.loads(path.read_text()).items()
        path.write_text(damaged % (name, told["log"]) if "%" in damaged else damaged)
        with pytest.raises(AhpError, match="damaged; remove it"):
            ship()
        path.unlink()
    with pytest.raises(AhpError, match=r"no log in .*nothing to send"):
        shipping.ship(str(tmp_path / "none"), "", lambda log, records: "")


def test_a_commit_is_sent_with_the_trace_that_it_belongs_to(
    tmp_path: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From git's environment by the hook and the log to the collector."""
    gated = making.make(tmp_path / "repo")
    gated.policy("version: 1\nrules:\n  size: {at: pre-commit, prompt: files.changed_count > 0}\n")
    trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    monkeypatch.setenv("TRACEPARENT", f"00-{trace}-{span}-01")
    gated.commit("with", a="a")
    monkeypatch.setenv("TRACEPARENT", "no trace")
    gated.commit("without", b="b")
    monkeypatch.chdir(gated.root)
    ship()
    sent = [(json.loads(one.body.string_value), one) for one in receiver.records]
    assert {"with", "without"} == {
        "with" if one.trace_id else "without" for told, one in sent if told["kind"] in ("signal", "verdict")
    }
    for told, one in sent:
        of = (one.trace_id.hex(), one.span_id.hex(), one.flags & 255)
        assert of == ((trace, span, 1) if told.get("traceparent") else ("", "", 0))
