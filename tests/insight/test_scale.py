"""docs/scale.md: its queries run on exports, and say what `ahp stats` says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ahp.insight import export, stats

from . import example

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scale.md"
QUERIES = re.findall(r"```sql\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


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
