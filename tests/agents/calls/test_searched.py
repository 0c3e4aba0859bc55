"""ahp.agents.calls.searched"""

from __future__ import annotations

import os
from typing import Any

import pytest

from ahp.agents.calls import protected, searched, tool_call
from ahp.hosts import asking
from ahp.protocol.event import Actor
from tests.conftest import Repo

REACHES = """
find . -type f | xargs sed -i s/a/b/
find -type f -print0 | xargs -0 perl -pi -e s/a/b/
find . -type f -name '*' | xargs sed -i s/a/b/
find . -type f -exec sed -i s/a/b/ {} +
find . -type f -exec chmod 644 {} +
find . -type f -mtime +7 -delete
find "$PWD" -type f | xargs sed -i s/a/b/
find . -type f | while read -r f; do sed -i s/a/b/ "$f"; done
for f in $(find . -type f); do sed -i s/a/b/ "$f"; done
find . -not -path './.git/*' -type f | xargs sed -i s/a/b/
find . -not -path '.ahp/*' -not -path './.git/*' -type f | xargs sed -i s/a/b/
find . -name .git -prune -o -type f -print | xargs sed -i s/a/b/
find . -type f | grep "$P" | xargs sed -i s/a/b/
find . -not -name "$P" -type f | xargs sed -i s/a/b/
find . -name "$P" -prune -o -type f -print | xargs sed -i s/a/b/
grep -rl --exclude-dir="$P" policy . | xargs sed -i s/policy/x/
grep -rl --include="*.$P" policy . | xargs sed -i s/policy/x/
grep -rl --include=*.yaml policy . | xargs sed -i s/policy/x/
git grep -l policy -- ":!$P" | xargs sed -i s/policy/x/
fd -H "$P" -x sed -i s/a/b/
fd -H "$P" | xargs sed -i s/a/b/
fd -H -e "$P" -x sed -i s/a/b/
fd -H -E "$P" -x sed -i s/a/b/
find . -mindepth 1 -maxdepth 1 | xargs rm -rf
fd -H . -x rm -rf
fd -H -d 1 -X rm -rf
fd -H ahp -x rm -rf
fd -HI -t f -x sed -i s/a/b/
fd --hidden --exclude=.git . | xargs sed -i s/a/b/
fd -u | xargs rm -rf
fd -H -e yaml -e yml -x sed -i s/a/b/
fd -H '^hooks' -x sed -i s/a/b/
fdfind -H -g '*' -x sed -i s/a/b/
find . -maxdepth 1 ! -name . -print0 | xargs -0 rm -rf
find . -maxdepth 1 -not -name .git | xargs rm -rf
find . -name '*.py' -o -type f | xargs sed -i s/a/b/
find . -type f | grep -v node_modules | xargs sed -i s/a/b/
find . -type f | grep yaml | xargs sed -i s/a/b/
find . -type f | grep -v '[' | xargs sed -i s/a/b/
find . -type f | grep -Ev '^(([^/]|.)+)+!$' | xargs sed -i s/a/b/
cd .. && find project -type f | xargs sed -i s/a/b/
cd src && find .. -type f | xargs sed -i s/a/b/
du -a . | cut -f2 | xargs rm -f
du -a --exclude="$P" | cut -f2 | xargs sed -i s/a/b/
tree -afi --noreport | xargs sed -i s/a/b/
tree -afi -I "$P" | xargs sed -i s/a/b/
grep -rl policy . | xargs sed -i s/policy/x/
grep -ril POLICY | xargs sed -i s/policy/x/
sed -i s/policy/x/ $(grep -rl policy .)
grep -rlE 'pol(icy)' . | xargs sed -i s/policy/x/
grep -rL elsewhere . | xargs sed -i s/policy/x/
grep -rl -e elsewhere . | xargs sed -i s/policy/x/
grep -rl policy . --exclude-dir=.git | xargs sed -i s/policy/x/
grep -rl --include='*.yaml' policy . | xargs sed -i s/policy/x/
rg -l --hidden policy | xargs sed -i s/policy/x/
rg -luu policy | xargs sed -i s/policy/x/
git grep -l policy | xargs sed -i s/policy/x/
git ls-files | xargs sed -i s/a/b/
git ls-files -z | xargs -0 dos2unix
ls -A | xargs rm -rf
find . \\( -name x -o -path './.ahp*' \\) -type f | xargs sed -i s/a/b/
"""
PASSES_OVER = """
du -a --exclude=.git --exclude=.ahp | cut -f2 | xargs sed -i s/a/b/
tree -fi | xargs sed -i s/a/b/
tree -afi -I '.git|.ahp' | xargs sed -i s/a/b/
find . -type f | xargs grep -l a
find . -type f -exec cp {} /tmp/x/ ;
find src docs -type f | xargs sed -i s/a/b/
find . -name '*.py' -o -name '*.pyi' | xargs sed -i s/a/b/
find . -name '*.py' -not -path './.venv/*' | xargs sed -i s/a/b/
find . -type f -not -path '*/.*' | xargs sed -i s/a/b/
find . -type f ! -path '*/.git/*' ! -path './.ahp/*' | xargs sed -i s/a/b/
find . \\( -name .git -o -name .ahp \\) -prune -o -type f -print | xargs sed -i s/a/b/
find . -type f | grep '\\.py$' | xargs sed -i s/a/b/
find . -type f | grep -v '^\\./\\.' | xargs sed -i s/a/b/
find . -maxdepth 1 -type f | xargs sed -i s/a/b/
find . -maxdepth 1 ! -name '.*' | xargs rm -rf
fd -e py -x black
fd -H -E '.*' -x sed -i s/a/b/
fd . -x sed -i s/a/b/
fd -H -E .git -E .ahp -x sed -i s/a/b/
fd -H -e py -x sed -i s/a/b/
fd -H '\\.py$' | xargs sed -i s/a/b/
fd -H --exclude='.*' . | xargs rm -rf
find . -maxdepth 1 ! -path './.*' | xargs rm -rf
find . -maxdepth 1 -name '*.tmp' | xargs rm -rf
cd src && find . -type f | xargs sed -i s/a/b/
grep -rl elsewhere . | xargs sed -i s/elsewhere/x/
grep -rl policy src | xargs sed -i s/policy/x/
grep -rl policy . --exclude-dir=.git --exclude-dir=.ahp | xargs sed -i s/policy/x/
grep -rl --exclude-dir='.*' policy . | xargs sed -i s/policy/x/
grep -rl --include='*.py' policy . | xargs sed -i s/policy/x/
rg -l policy | xargs sed -i s/policy/x/
git grep -l elsewhere | xargs sed -i s/elsewhere/x/
git grep -l policy -- src | xargs sed -i s/policy/x/
git grep -l policy -- '*.py' | xargs sed -i s/policy/x/
git grep -l policy -- ':!.ahp' | xargs sed -i s/policy/x/
git ls-files '*.py' | xargs black
git ls-files | grep '\\.py$' | xargs black
git diff --name-only | xargs black
ls | xargs rm -rf
find . \\( -name node_modules -o -name .git \\) -prune -o -name '*.ts' -print | xargs sed -i s/a/b/
"""


@pytest.fixture
def project(repo: Repo) -> Repo:
    repo.commit("first", **{".ahp/hooks.yaml": "# the policy\nversion: 1\n", "src/a.py": "policy = elsewhere = 1\n"})
    return repo


def told(project: Repo, script: str) -> list[str]:
    where = asking.around(str(project.root))
    event = asking.event("pre-tool-use", "claude", Actor("agent", "claude"), where, mode="replay")
    script = script.replace("project", project.root.name)
    call = tool_call.read("", "Bash", {"command": script}, root=event.root)
    found: list[Any] = protected.written(event, call)
    assert not any(one["sure"] for one in found)
    return [one["path"] for one in found]


def test_a_search_that_finds_protected_files_is_told_and_one_that_passes_them_over_is_not(project: Repo) -> None:
    for script in REACHES.strip().splitlines():
        assert told(project, script), script
    for script in PASSES_OVER.strip().splitlines():
        assert told(project, script) == [], script


def test_each_folder_at_the_top_is_told_once_by_its_name(project: Repo) -> None:
    assert told(project, "find . -type f | xargs sed -i s/a/b/") == [".ahp", ".git"]
    assert told(project, "git ls-files | xargs sed -i s/a/b/") == [".ahp"]
    os.unlink(project.root / ".ahp/hooks.yaml")
    assert told(project, "git ls-files | xargs sed -i s/a/b/") == []


def test_so_many_filters_that_to_read_them_takes_long_leave_nothing_out(project: Repo) -> None:
    few, many = (" ".join(f"--exclude='{n}*'" for n in range(count)) for count in (99, 101))
    script = "grep -rl policy . --exclude-dir=.ahp {} | xargs sed -i s/policy/x/"
    assert told(project, script.format(few)) == []
    assert told(project, script.format(many)) == [".ahp"]


def test_a_large_file_is_looked_into_and_what_is_too_much_may_have_the_word(
    project: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = project.root / ".git/ahp/cache"
    cache.mkdir(parents=True)
    for name in ("agent.pyc", "light.pyc"):  # ahp's own byte code
        (cache / name).write_bytes(b"\0" * (1 << 20))
    script = "grep -rl elsewhere . | xargs sed -i s/elsewhere/x/"
    assert told(project, script) == []
    monkeypatch.setattr(searched, "_MOST_BYTES", 2 << 20)  # some are gone for the policy
    assert told(project, script) == [".git"]
