"""Regular expressions whose compiled form comes with the bundle, which takes no `re`.

Importing `re` takes longer than reading a shell command, and so does compiling what that needs. The form is what `re`
itself hands to its engine, made by the interpreter that reads it. Where that engine takes another form, `re` compiles.
"""

from ahp.system import ready

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any

IGNORECASE, MULTILINE, DOTALL = 2, 8, 16  # as `re` has them


def regex(pattern: str, flags: int = 0) -> "re.Pattern[str]":
    """The same as `re.compile(pattern, flags)`. Replacing with a text that holds a backslash would import `re`."""
    form: Any = ready.made(f"regex {flags} {pattern}", lambda: _form(pattern, flags))
    try:
        import _sre

        found: re.Pattern[str] = _sre.compile(*form)
        return found
    except (ImportError, AttributeError, TypeError, ValueError, RuntimeError):  # None too, which is no form
        import re as plain

        return plain.compile(pattern, flags)


def _form(pattern: str, flags: int) -> "tuple[Any, ...] | None":
    """What `re.compile` gives its engine (CPython, Lib/re/_compiler.py); None where it gives something else."""
    import re

    whole = re.compile(pattern, flags)
    names: list[str | None] = [None] * (whole.groups + 1)
    for name, index in whole.groupindex.items():
        names[index] = name
    try:
        from re import _compiler, _parser  # type: ignore[attr-defined]

        # Plain numbers, not those that print their name.
        code = [int(word) for word in _compiler._code(_parser.parse(pattern, flags), flags)]
        form = (pattern, int(whole.flags), code, whole.groups, dict(whole.groupindex), tuple(names))
        import _sre

        return form if _sre.compile(*form) == whole else None
    except (ImportError, AttributeError, TypeError, ValueError, RuntimeError):
        return None
