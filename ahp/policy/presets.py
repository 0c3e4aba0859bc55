"""Commands that are the same everywhere: `facts: {lint: {preset: ruff}}` (design §4).

Every key of a preset can be given beside it, and then takes its place. A check only reads: the options hold against a
project's own settings that make the tool write, colour, page or print for people.
"""

from typing import Any, Literal

Preset = Literal["ruff", "mypy", "mypy-configured", "eslint", "pytest", "verify", "verify-tests", "verify-lint"]

_PYTHON = ["*.py", "*.pyi"]
_JAVASCRIPT = ["*.js", "*.jsx", "*.mjs", "*.cjs", "*.ts", "*.tsx", "*.vue"]

_MYPY: dict[str, Any] = {
    "run": [
        *("mypy", "--no-install-types", "--interactive", "--no-pretty", "--no-color-output", "--no-error-summary"),
        *("--hide-absolute-path", "--hide-error-context"),
    ],
    "parse": "lines",
    "extract": {
        "error_count": "count(l for l in output if contains(l, ': error: '))",
        "lines": {"value": "output", "type": "list[str]"},
    },
    "when_changed": _PYTHON,
    "timeout": "60s",
}

# pytest writes its report to a file only; it is read and removed, and pytest's own exit code is kept. Only the older
# family names the file and line of a case.
_PYTEST = (
    "report=$(mktemp) || exit 125; "
    'python -m pytest -q --color=no -o junit_family=xunit1 --junitxml="$report" >/dev/null 2>&1; code=$?; '
    'cat "$report"; rm -f "$report"; exit $code'
)

# What `ahp verify` finds: the checks that the runner makes. It remembers itself what passed.
_VERIFY: dict[str, Any] = {
    "run": ["ahp", "verify", "--format", "sarif"],
    "parse": "sarif",
    "extract": {
        "ok": {"value": "output.runs[0].properties.ok", "type": "bool"},
        "is_red": {"value": "output.runs[0].properties.red", "type": "bool"},
        "type": {"value": "output.runs[0].properties.type", "type": "str"},
        "summary": {"value": "output.runs[0].properties.summary", "type": "str"},
    },
    "timeout": "300s",
}

PRESETS: dict[Preset, dict[str, Any]] = {
    "ruff": {
        "run": ["ruff", "check", "--no-fix", "--no-show-fixes", "--no-cache", "--output-format", "sarif", "."],
        "parse": "sarif",
        "when_changed": _PYTHON,
    },
    "mypy": {**_MYPY, "run": [*_MYPY["run"], "."]},
    "mypy-configured": _MYPY,  # the files that mypy's own settings name
    "eslint": {
        "run": ["npx", "--no-install", "eslint", "--no-fix", "--no-color", "--format", "json", "."],
        "parse": "json",
        "extract": {"error_count": "sum(f.errorCount for f in output)"},
        "when_changed": _JAVASCRIPT,
        "timeout": "60s",
    },
    "pytest": {
        "run": ["sh", "-c", _PYTEST],
        "parse": "junit",
        "extract": {"failed_count": "output.failed_count", "total": "output.total"},
        "timeout": "120s",
    },
    "verify": _VERIFY,
    "verify-tests": {**_VERIFY, "run": [*_VERIFY["run"], "tests"]},
    "verify-lint": {**_VERIFY, "run": [*_VERIFY["run"], "lint"]},
}
