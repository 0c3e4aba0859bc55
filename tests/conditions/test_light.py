"""The evaluator belongs to the quick path: it imports nothing that costs milliseconds (design §12)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
ALLOWED = {"time", "errno", "posix"}


def light(code: str) -> set[str]:
    before = "import sys\nbefore = set(sys.modules)\n"
    after = "\nprint(' '.join(set(sys.modules) - before))"
    path = f"sys.path.insert(0, {str(ROOT)!r})\n"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", before + path + code + after], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_evaluating_a_plan_imports_only_its_own_modules() -> None:
    plan = ["and", [">", ["fact", "a.b"], ["const", 1]], ["glob", ["fact", "a.c"], ["const", "*.py"], []]]
    loaded = light(
        f"from ahp.conditions.evaluate import build\nimport ahp.conditions.regexes\n"
        f"assert build({json.loads(json.dumps(plan))!r}, {{'a.b': 0, 'a.c': 1}})([2, 'x.py']) is True"
    )
    assert {name for name in loaded if not name.startswith("ahp")} <= ALLOWED
    assert loaded & {f"ahp.conditions.{name}" for name in ("typecheck", "schema", "reference", "checker")} == set()


def test_regex_loads_the_extension_module_and_nothing_else() -> None:
    import re2

    site = str(Path(re2.__file__).parent.parent)
    plan = ["matches", ["fact", "a"], ["const", "^a+$"], []]
    loaded = light(
        f"sys.path.append({site!r})\nfrom ahp.conditions.evaluate import build\n"
        f"assert build({plan!r}, {{'a': 0}})(['aaa']) is True\nassert build({plan!r}, {{'a': 0}})(['b']) is False"
    )
    assert {name for name in loaded if not name.startswith("ahp")} <= ALLOWED | {"re2._re2", "_imp"}


def test_missing_re2_is_a_sentence() -> None:
    code = (
        "from ahp.conditions.regexes import regex\nfrom ahp.system.errors import AhpError\n"
        "try: regex('a')\n"
        "except AhpError as error: assert 'google-re2' in str(error)\nelse: raise SystemExit('no error')"
    )
    light(code)
