"""Which named groups of a regular expression match in a text: what kind of thing `matches` has found."""

import re2

from ahp.conditions.regexes import MAX_REGEX_MEMORY
from ahp.conditions.runtime import MAX_CHARS


def named_groups(pattern: str, text: str) -> list[str]:
    """The names of the groups of `pattern` that take part in a match, in the order in which they occur in the text.

    Of a text that is longer than `matches` reads there are none. Raises re2.error for what is no RE2 expression.
    """
    if len(text) > MAX_CHARS:
        return []
    options = re2.Options()
    options.max_mem = MAX_REGEX_MEMORY
    options.log_errors = False
    found: dict[str, None] = {}
    for match in re2.compile(pattern.encode("utf-8"), options).finditer(text.encode("utf-8", "replace")):
        found |= dict.fromkeys(name.decode() for name, group in match.groupdict().items() if group is not None)
    return list(found)
