"""Commands that are the same everywhere: `facts: {lint: {preset: ruff}}` (design §4).

Every key of a preset can be given beside it, and then takes its place.
"""

from typing import Any

_PYTHON = ["*.py", "*.pyi"]
_JAVASCRIPT = ["*.js", "*.jsx", "*.mjs", "*.cjs", "*.ts", "*.tsx", "*.vue"]

# pytest writes its report to a file only; it is read and removed, and pytest's own exit code is kept. Only the older
# family names the file and line of a case.
_PYTEST = (
    "report=$(mktemp) || exit 125; "
    'python -m pytest -q -o junit_family=xunit1 --junitxml="$report" >/dev/null 2>&1; code=$?; '
    'cat "$report"; rm -f "$report"; exit $code'
)

PRESETS: dict[str, dict[str, Any]] = {
    "ruff": {
        "run": ["ruff", "check", "--output-format", "sarif", "."],
        "parse": "sarif",
        "when_changed": _PYTHON,
    },
    "mypy": {
        "run": ["mypy", "--no-pretty", "--no-error-summary", "."],
        "parse": "lines",
        "extract": {
            "error_count": "count(l for l in output if contains(l, ': error: '))",
            "lines": {"value": "output", "type": "list[str]"},
        },
        "when_changed": _PYTHON,
        "timeout": "60s",
    },
    "eslint": {
        "run": ["npx", "--no-install", "eslint", "--format", "json", "."],
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
}
