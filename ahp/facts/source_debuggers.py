"""Debugger statements in source whose comments and texts are found by their marks: JavaScript, Rust, Go, Java."""

import re

_PATTERNS = {
    # a statement: at the head of one, and nothing but its end behind it
    "javascript": re.compile(r"(?:^|[;{})]|\belse\b|\bdo\b)[ \t]*(?P<name>debugger)[ \t]*(?=;|\}|\n|$)", re.MULTILINE),
    "rust": re.compile(r"(?<![\w!])(?:std\s*::\s*)?(?P<name>dbg!)\s*[(\[{]"),
    # `print` behind `func` or a receiver is a function of that name
    "go": re.compile(r"(?<![\w.])(?P<name>runtime\.Breakpoint|fmt\.Print(?:ln|f)?|(?<!func )(?<!\) )print(?:ln)?)\("),
    # a stack trace that is given a writer is kept somewhere else
    "java": re.compile(
        r"(?<![\w.])(?:(?P<name>System\.(?:out|err)\.print(?:ln|f)?)\("
        r"|(?P<trace>(?:new\s+\w+\(\)|\w+)\.printStackTrace)\(\s*(?:System\.(?:out|err)\s*)?\))"
    ),
}
# What a program prints is its output. Much of a program lies beside `package main`: in files that end the process,
# or have to do with its arguments and streams.
_PROGRAMS = {
    "go": re.compile(r"^[ \t]*package[ \t]+main\b|\bos\.(?:Exit|Args|Stdin|Stdout)\b", re.MULTILINE),
    "java": re.compile(r"\bstatic\s+void\s+main\s*\("),
}
# Libraries that read a command line, by their import, which is a text.
_COMMAND_LINES = {
    "go": re.compile(
        r'^[ \t]*(?:import[ \t]+)?(?:\w+[ \t]+)?"(?:flag|\S+/(?:simplecobra|cobra|pflag|cli|kingpin)(?:[./]v\d+)?)"',
        re.MULTILINE,
    )
}
# A function of the file's own that has the name of a builtin.
_OWN_PRINT = re.compile(r"\b(?:(?:func|var)\s+(?P<one>print(?:ln)?)\b|(?P<two>print(?:ln)?)\s*(?::?=(?!=)|func\())")
# What a function or branch of such a name prints, it is there to print.
_PURPOSE = {
    "go": re.compile(
        r"(?i:print|debug|verbose|trace|dump|usage|display|show|quiet)|(?:(?<![A-Za-z])l|L)og(?:ger|ging|s|f|ln)?(?![a-z])"
    )
}
_NEVER_OUTPUT = ("runtime.Breakpoint",)
_COMMENTS = r"//[^\n]*+|/\*(?s:.*?)(?:\*/|\Z)"
_IN_A_COMMENT = r"[^*/]|\*(?!/)|/(?!\*)"
_NESTED = rf"/\*(?>(?:{_IN_A_COMMENT})*)\*/"
for _ in range(3):  # what lies deeper ends too early
    _NESTED = rf"/\*(?>(?:{_IN_A_COMMENT}|{_NESTED})*)\*/"
_ON_A_LINE = r"{0}(?>(?:\\(?s:.)|[^\\\n{0}])*){0}?"
_OVER_LINES = r"{0}(?>(?:\\(?s:.)|[^\\{0}])*){0}?"
_CHARACTER = r"'(?:\\[^\n]{1,10}?|[^\\'\n])'"
# a regular expression, behind what no operand is behind; without an end nearby it is a division after all
_REGEX = (
    r"(?:(?<=[(,=:\[!&|?{};+\-*%<>~^\n])|\A)[ \t]*+/(?!\*)"
    r"(?>(?:\\[^\n]|\[(?>(?:\\[^\n]|[^\]\\\n]){0,200})\]|[^/\\\[\n]){1,300})/"
)
# Comments and texts. Each is taken whole, or to the end of the file, so that no part is looked through twice.
_TEXTS = {
    "javascript": [_COMMENTS, _ON_A_LINE.format('"'), _ON_A_LINE.format("'"), _OVER_LINES.format("`"), _REGEX],
    "rust": [
        *(r"//[^\n]*+", _NESTED, r"/\*(?s:.*)", r'(?<!\w)b?r(?P<marks>#*)"(?s:.*?)(?:"(?P=marks)|\Z)'),
        *(_OVER_LINES.format('"'), _CHARACTER),
    ],
    "go": [_COMMENTS, _ON_A_LINE.format('"'), _CHARACTER, r"`[^`]*+`?"],
    "java": [_COMMENTS, r'"""(?s:.*?)(?:"""|\Z)', _ON_A_LINE.format('"'), _CHARACTER],
}


def find(language: str, text: str) -> list[tuple[int, str]]:
    """(line, name) of each."""
    bare = without_texts(language, text)
    is_program = _holds(_PROGRAMS, language, bare) or _holds(_COMMAND_LINES, language, text)
    own = {one or two for one, two in _OWN_PRINT.findall(bare)} if language == "go" else set()
    purpose = _PURPOSE.get(language)
    lines = bare.split("\n")
    found = []
    for hit in _PATTERNS[language].finditer(bare):
        group = hit.lastgroup or ""
        name, line = hit.group(group), bare.count("\n", 0, hit.start(group)) + 1
        meant = is_program or (purpose is not None and any(map(purpose.search, _heads(lines, line))))
        if name not in own and (not meant or name in _NEVER_OUTPUT):
            found.append((line, name))
    return found


def _holds(patterns: dict[str, re.Pattern[str]], language: str, text: str) -> bool:
    return language in patterns and patterns[language].search(text) is not None


def _heads(lines: list[str], number: int) -> list[str]:
    """The lines that open the blocks around a line, by their indentation, innermost first."""
    depth = _depth(lines[number - 1])
    heads = []
    at = number - 1
    while depth and at:
        at -= 1
        if lines[at].strip() and _depth(lines[at]) < depth:
            depth = _depth(lines[at])
            heads.append(lines[at])
    return heads


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def without_texts(language: str, text: str) -> str:
    """The source with blanks where comments and texts are; every line keeps its number."""
    return re.sub("|".join(_TEXTS[language]), lambda part: re.sub(r"[^\n]", " ", part[0]), text)
