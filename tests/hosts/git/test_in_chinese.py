"""A person whose locale is Chinese reads git's refusals in Chinese; all others, and the log, read English."""

from __future__ import annotations

from pathlib import Path

import pytest

from ahp.cli.main import run
from tests.attended import attended
from tests.hosts.git.gated import Gated
from tests.hosts.git.test_light import BUNDLED, modules

CHINESE = {"LC_ALL": "zh_CN.UTF-8"}
POLICY = """\
version: 1
extends: [core, conventional-commits]
escalation: {ladder: [prompt, block], after: 2}
rules:
  own: {at: pre-commit, prompt: "'own.txt' in files.changed", message: our own words, fix: ["do it: ./do"]}
"""
MARKERS = "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"


@pytest.fixture
def here(gated: Gated) -> Gated:
    gated.commit_policy(POLICY)
    return gated


def stage(here: Gated, **files: str) -> None:
    for name, text in files.items():
        here.write(name.replace("_", "."), text)
    here.add()


def test_a_refused_commit(here: Gated) -> None:
    stage(here, a_txt=MARKERS)
    code, said = here.say("commit", "-qm", "fix: a", env=CHINESE)
    id = here.log("signal")[-1]["id"][:8]
    assert code == 1 and said == (
        f"ahp: 提交被拒绝，规则 no-merge-markers ({id})\n  有合并冲突没有解决\n  a.txt:1\n  a.txt:5\n"
        "  - 解决冲突，去掉标记，再 git add 这个文件\n"
        f'  放行一次，并说明原因：ahp respond {id} proceed_with_risk --reason "…"\n'
    )
    assert here.log("signal")[-1]["message"] == "a merge conflict is not resolved"
    assert not any("提交" in str(record) for record in here.log())


def test_a_refused_message_and_where_it_is_kept(here: Gated) -> None:
    stage(here, a_txt="a\n")
    editor = {**CHINESE, "GIT_EDITOR": 'sh -c \'echo "what it is" >"$1"\' -'}
    code, said = here.say("commit", "-q", env=editor)
    assert code == 1
    assert "\n  标题没有以已知的类型开头：'what it is'\n  - 在文字前加上类型，文字可以不变：`fix: read" in said
    assert "\n  - 类型：'feat', 'fix', 'docs'" in said
    assert said.splitlines()[-1].startswith("  提交说明已保留：git commit -eF ") and said.endswith("，其他选项照旧\n")


def test_a_warning_that_climbs_and_words_of_the_project(here: Gated) -> None:
    stage(here, own_txt="1\n")
    said = [here.say("commit", "-qm", "fix: a", env=CHINESE).text]
    for number in (2, 3):
        stage(here, own_txt=f"{number}\n")
        said.append(here.say("commit", "-qm", "fix: a", env=CHINESE).text)
    first, second, third = [text.splitlines() for text in said]
    assert first[0].startswith("ahp: 提交有警告，规则 own (")
    assert first[1:] == ["  our own words（第 1 次警告，共 2 次；之后拒绝）", "  - do it: ./do"]
    assert second[1] == "  our own words（第 2 次警告，共 2 次；下一次拒绝）"
    assert third[1] == "  our own words（已警告 2 次，现在拒绝）"


def test_a_refused_push(here: Gated, tmp_path: Path) -> None:
    here.git("init", "-q", "--bare", str(tmp_path / "bare.git"))
    here.git("remote", "add", "origin", str(tmp_path / "bare.git"))
    stage(here, a_txt=MARKERS)
    said = here.say("commit", "-qnm", "fix: a", env=CHINESE).text
    assert said == (
        "ahp: 这个提交违反 no-merge-markers，而且没有经过钩子：有合并冲突没有解决（a.txt:1）；推送它会被拒绝\n"
    )
    code, said = here.say("push", "-q", "origin", "HEAD:refs/heads/topic", env=CHINESE)
    commit = here.head()[:10]
    assert code == 1 and "ahp: 推送被拒绝，规则 no-merge-markers (" in said
    assert f"\n  {commit} a.txt:1\n" in said
    assert f"\n  - 在提交本身修正：git commit --amend，更早的提交：git rebase -i --rebase-merges {commit}^\n" in said
    assert "\n  标题没有以已知的类型开头：'policy'；只改动了策略，因此放行\n" in said


def test_a_fact_that_is_missing(gated: Gated) -> None:
    gated.commit_policy("version: 1\nrules:\n  tested: {at: pre-commit, block: tests.failed_count > 0}\n")
    stage(gated, a_txt="a\n")
    said = gated.say("commit", "-qm", "fix: a", env=CHINESE).text
    assert "\n  无法判定：缺少 tests.failed_count（没有 JUnit XML 报告（" in said and "fact" not in said


@pytest.mark.parametrize(
    "env",
    [
        {**CHINESE, "CLAUDECODE": "1"},
        {**CHINESE, "CI": "true"},
        {"LC_ALL": "C.UTF-8", "LANG": "zh_CN.UTF-8"},
    ],
    ids=["agent", "ci", "English"],
)
def test_all_others_read_english(here: Gated, env: dict[str, str]) -> None:
    stage(here, a_txt=MARKERS)
    code, said = here.say("commit", "-qm", "fix: a", env=env)
    assert code == 1 and "a merge conflict is not resolved" in said and said.isascii() != ("…" in said)
    assert "规则" not in said


def test_at_a_terminal_the_question_is_chinese_and_colours_stay(gated: Gated) -> None:
    gated.commit_policy(
        "version: 1\nrules:\n"
        "  sure: {at: pre-commit, prompt: files.changed_count > 0, ask: true, message: a private key}\n"
    )
    stage(gated, a_txt="a\n")
    env = {**CHINESE, "TERM": "xterm"}
    code, said = attended(["git", "commit", "-qm", "fix: a"], gated.root, env=env, answer=b"n\n")
    assert code == 1 and "\x1b[33m!\x1b[0m ahp: 提交有警告，规则 sure (" in said and "\n  有私钥\n" in said
    assert "ahp: 继续？ [y/N] n\n" in said and said.endswith("ahp: 已按你的要求停止\n")


def test_what_is_clean_or_english_does_not_read_the_catalog(here: Gated, monkeypatch: pytest.MonkeyPatch) -> None:
    stage(here, a_txt="a\n")
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert modules(here, BUNDLED, "pre-commit") & {"ahp.hosts.chinese", "tomllib", "re2"} == set()
    stage(here, a_txt=MARKERS)
    assert {"ahp.hosts.chinese", "tomllib"} < modules(here, BUNDLED, "pre-commit", code=1)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert modules(here, BUNDLED, "pre-commit", code=1) & {"ahp.hosts.chinese", "tomllib"} == set()


def test_programs_read_english(
    here: Gated, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stage(here, a_txt=MARKERS)
    monkeypatch.chdir(here.root)
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert run(["check", "pre-commit", "--format", "json"]) == 1
    told = capsys.readouterr().out
    assert "a merge conflict is not resolved" in told and "规则" not in told
    assert run(["check", "pre-commit"]) == 1
    assert "有合并冲突没有解决" in capsys.readouterr().out
