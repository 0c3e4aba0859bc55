"""docs/scale.md: its queries run on exports, and its steps lead to a store that says what `ahp stats` says.

The steps are read from the page. What stands in for programs that cannot be had here is in `stand_in_collector`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ahp.insight import export, stats
from tests.conftest import PROJECT

from . import example, rotel
from .test_deploy import PostgreSQL, Store, postgresql, says_what_stats_says, serving_clickhouse

__all__ = ["postgresql"]
PAGE = (PROJECT / "docs" / "scale.md").read_text(encoding="utf-8")
QUERIES = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
(STEPS,) = [block for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) if "deploy/" in block]
CLICKHOUSE, POSTGRESQL, CLONE = [
    [line.partition("  #")[0].strip() for line in part.splitlines()[1:] if line.strip()] for part in STEPS.split("\n\n")
]
STAND_INS = {
    "otelcol-contrib": f'exec "{sys.executable}" -m tests.insight.stand_in_collector "$@"',
    "clickhouse-client": r"""sed 's/--.*//' | tr '\n;' ' \n' | grep '[^ ]' |
        while IFS= read -r one; do curl -sSf --data-binary "$one" "$DOOR"; done""",
}


def test_the_queries_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb = pytest.importorskip("duckdb")
    example.write(tmp_path / ".ahp")
    (tmp_path / "logs").mkdir()
    for name in ("one", "again"):
        export.to_parquet(str(tmp_path / ".ahp"), str(tmp_path / "logs" / f"{name}.parquet"))
    monkeypatch.chdir(tmp_path)
    by_rule, answers = QUERIES
    figures = {one.name: one for one in stats.collect("", now=example.END, from_=["logs"]).groups}
    found = {row[0]: row[1:] for row in duckdb.sql(by_rule).fetchall()}
    spoke = {name: one for name, one in figures.items() if one.signals}
    assert {name: row[:2] for name, row in found.items()} == {
        n: (one.signals, one.episodes) for n, one in spoke.items()
    }
    assert {row[3] for row in found.values()} == {1}
    assert {row[0] for row in duckdb.sql(answers).fetchall()} <= set(spoke)


class Steps:
    """The steps of the page in a folder that has `deploy/`, where each place of the page is one of the test."""

    def __init__(self, folder: Path, env: dict[str, str], places: dict[str, str]) -> None:
        self.folder, self.places = folder, {"/var/lib/otelcol": str(folder / "otelcol"), **places}
        shutil.copytree(PROJECT / "deploy", folder / "deploy")
        for config in (folder / "deploy").glob("collector*.yaml"):
            config.write_text(config.read_text().replace("/var/lib/otelcol", str(folder / "otelcol")))
        (folder / "bin").mkdir()
        for name, text in STAND_INS.items():
            (folder / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
            (folder / "bin" / name).chmod(0o755)
        path = f"{folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        self.env = {**rotel.plain(), **env, "PATH": path, "PYTHONPATH": str(PROJECT)}

    def _words(self, step: str) -> list[str]:
        for told, place in self.places.items():
            step = step.replace(told, place)
        return ["sh", "-c", step]

    def run(self, step: str, **where: Path) -> None:
        done = subprocess.run(
            self._words(step),
            cwd=where.get("cwd", self.folder),
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{step}: {done.stdout}{done.stderr}"

    def start(self, step: str) -> subprocess.Popen[bytes]:
        """A collector, from when it listens."""
        running = subprocess.Popen(self._words(step), cwd=self.folder, env=self.env, stdin=subprocess.PIPE)
        rotel.until(lambda: (self.folder / "address").exists() or running.poll() is not None)
        self.places["http://collector:4318"] = (self.folder / "address").read_text()
        return running


def follow(steps: Steps, store: Store, stand_up: list[str], load: list[str]) -> None:
    clone = steps.folder / "clone"
    clone.mkdir()
    example.write(clone / ".ahp")
    *first, collector = stand_up
    for step in first:
        steps.run(step)
    running = steps.start(collector)
    try:
        for step in CLONE:
            steps.run(step, cwd=clone)
        for step in load:
            steps.run(step)
        log = len((clone / ".ahp" / "signals.jsonl").read_text().splitlines())
        rotel.until(lambda: store.ask("SELECT told, lost FROM ahp.logs") == [[str(log), "0"]])
        says_what_stats_says(store, clone)
    finally:
        running.communicate()


@pytest.mark.tools
def test_the_steps_of_the_page_lead_to_figures_in_postgresql(postgresql: PostgreSQL, tmp_path: Path) -> None:
    postgresql.env["PGDATABASE"] = "ahp"
    env = {name: value for name, value in postgresql.env.items() if name in ("PGHOST", "PGUSER", "PGTZ")}
    *stand_up, load = POSTGRESQL
    follow(Steps(tmp_path, env, {}), postgresql, stand_up, [load])


@pytest.mark.tools
def test_the_steps_of_the_page_lead_to_figures_in_clickhouse(tmp_path: Path) -> None:
    rotel.program()
    (tmp_path / "store").mkdir()  # which has no schema: the page brings it
    with serving_clickhouse(tmp_path / "store") as store:
        places = {"tcp://127.0.0.1:9000?username=default": store.url}
        follow(Steps(tmp_path, {"DOOR": store.url}, places), store, CLICKHOUSE, [])
