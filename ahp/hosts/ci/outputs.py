"""A report in the forms that CI systems read, each with the name that people give it."""

from __future__ import annotations

from collections.abc import Callable

from ahp.hosts.ci.formats import github, gitlab, json_report, junit, plain, sarif
from ahp.hosts.ci.report import Report

FORMATS: dict[str, Callable[[Report], str]] = {
    "text": plain.write,
    "json": json_report.write,
    "sarif": sarif.write,
    "junit": junit.write,
    "github": github.workflow_commands,
    "gitlab": gitlab.write,
}
