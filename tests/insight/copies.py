"""Copies of a log as they come together on one machine: clones, old ones, pruned ones, exports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ahp.insight.export import exported
from ahp.system import clock

from .random_log import START


class Lines:
    """A log's lines, numbered as the journal does it, with torn ones between; `begins`: the first of each file."""

    def __init__(
        self, name: str, records: list[dict[str, Any]], told: list[dict[str, Any]], format: int | None = 1
    ) -> None:
        self.name, self.lines, self.begins = name, list[bytes](), [0]
        self.records: list[dict[str, Any]] = []
        maker = {"format": format, "ahp": "0.3.0"} if format else {}
        self._add({"kind": "genesis", "timestamp": clock.iso(START), "id": name, **maker})
        for at, record in enumerate(records):
            step = told[at % len(told)] if told else {"torn": 0, "rotates": False}
            if step["rotates"] and len(self.lines) > self.begins[-1] + 1:
                self.begins.append(len(self.lines))
                stamp = self.records[-1]["timestamp"]
                self._add({"kind": "rotation", "timestamp": stamp, "genesis": name, **maker})
            own = dict(record)
            if "id" in own:
                own["id"] = f"{name}-{own['id']}"
            if step["torn"]:
                self.lines.append(json.dumps(own).encode()[: -step["torn"]])
            self._add(own)

    def _add(self, record: dict[str, Any]) -> None:
        numbered = {**record, "n": len(self.records) + 1}
        self.records.append(numbered)
        self.lines.append(json.dumps(numbered).encode())

    def to_folder(self, folder: Path, file: int = 0, end: int | None = None) -> None:
        """The files from number `file` (from 0) on, up to line `end`."""
        folder.mkdir(parents=True)
        end = len(self.lines) if end is None else end
        begins = [begin for begin in self.begins[file:] if begin < end]
        for nth, (begin, until) in enumerate(zip(begins, [*begins[1:], end], strict=True)):
            name = "signals.jsonl" if nth == len(begins) - 1 else f"signals.{file + nth + 1}.jsonl"
            (folder / name).write_bytes(b"".join(line + b"\n" for line in self.lines[begin:until]))

    def to_file(self, path: Path, begin: int = 0, end: int | None = None) -> None:
        """An export of lines."""
        found = [line for line in self.lines[begin:end] if is_record(line)]
        path.write_bytes(b"".join(exported(line, self.name) + b"\n" for line in found))


def is_record(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
