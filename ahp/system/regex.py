"""Regular expressions whose compiled form comes with the bundle, which takes no `re`.

Importing `re` takes longer than reading a shell command, and so does compiling what that needs. The form is what `re`
itself hands to its engine, made by the interpreter that reads it.
"""

from ahp.system import ready

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any

IGNORECASE, MULTILINE, DOTALL = 2, 8, 16  # as `re` has them


def regex(pattern: str, flags: int = 0) -> "re.Pattern[str]":
    """The same as `re.compile(pattern, flags)`. Replacing with a text that holds a backslash would import `re`."""
    import _sre  # type: ignore[import-not-found]

    form = ready.made(f"regex {flags} {pattern}", lambda: _form(pattern, flags))
    found: re.Pattern[str] = _sre.compile(*form)
    return found


def _form(pattern: str, flags: int) -> "tuple[Any, ...]":
    """What `re.compile` gives its engine (CPython, Lib/re/_compiler.py)."""
    from re import _compiler, _parser  # type: ignore[attr-defined]

    parsed = _parser.parse(pattern, flags)
    state = parsed.state
    names: list[str | None] = [None] * state.groups
    for name, index in state.groupdict.items():
        names[index] = name
    flags = int(flags | state.flags)
    code = [int(word) for word in _compiler._code(parsed, flags)]  # plain numbers, not those that print their name
    return pattern, flags, code, state.groups - 1, dict(state.groupdict), tuple(names)
