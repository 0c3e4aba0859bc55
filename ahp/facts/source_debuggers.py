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
_STRINGS = {"javascript": "\"'", "rust": '"', "go": '"', "java": '"'}
_BEFORE_A_REGEX = "(,=:[!&|?{};+-*%<>~^\n"
_RAW = re.compile(r'b?r(#*)"')
_CHARACTER = re.compile(r"'(?:\\[^\n]{1,10}?|[^\\'\n])'")


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
    parts: list[str] = []
    at = last = 0
    while at < len(text):
        end = _end(language, text, at)
        if end > at:
            parts += [text[last:at], re.sub(r"[^\n]", " ", text[at:end])]
            at = last = end
        else:
            at += 1
    return "".join([*parts, text[last:]])


def _end(language: str, text: str, at: int) -> int:
    """Where the comment or text that begins at `at` ends; `at` where none begins."""
    char, two = text[at], text[at : at + 2]
    if two == "//":
        return _until(text, at, "\n")
    if two == "/*":
        return _comment(text, at, nested=language == "rust")
    if language == "rust" and char in "br" and (raw := _RAW.match(text, at)) and not _in_word(text, at):
        return _after(text, raw.end(), '"' + raw.group(1))
    if language == "java" and text.startswith('"""', at):
        return _after(text, at + 3, '"""')
    if char in _STRINGS[language]:
        return _string(text, at, char, over_lines=language == "rust")
    if char == "'" and (one := _CHARACTER.match(text, at)):
        return one.end()
    if char == "`" and language == "javascript":
        return _string(text, at, "`", over_lines=True)
    if char == "`" and language == "go":
        return _after(text, at + 1, "`")
    if char == "/" and language == "javascript" and text[:at].rstrip(" \t")[-1:] in ("", *_BEFORE_A_REGEX):
        return _regex(text, at)
    return at


def _in_word(text: str, at: int) -> bool:
    return at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_")


def _until(text: str, at: int, mark: str) -> int:
    end = text.find(mark, at)
    return len(text) if end < 0 else end


def _after(text: str, at: int, mark: str) -> int:
    end = text.find(mark, at)
    return len(text) if end < 0 else end + len(mark)


def _comment(text: str, at: int, nested: bool) -> int:
    depth, place = 1, at + 2
    for mark in re.finditer(r"/\*|\*/", text[place:] if nested else ""):
        depth += 1 if mark.group() == "/*" else -1
        if not depth:
            return place + mark.end()
    return len(text) if nested else _after(text, place, "*/")


def _string(text: str, at: int, quote: str, over_lines: bool) -> int:
    place = at + 1
    while place < len(text):
        if text[place] == "\\":
            place += 2
        elif text[place] == quote:
            return place + 1
        elif text[place] == "\n" and not over_lines:
            return place
        else:
            place += 1
    return len(text)


def _regex(text: str, at: int) -> int:
    """The end of a regular expression; `at` where it is a division after all: it has no end on this line."""
    place, in_class = at + 1, False
    while place < len(text) and text[place] != "\n":
        if text[place] == "\\":
            place += 1
        elif text[place] == "[":
            in_class = True
        elif text[place] == "]":
            in_class = False
        elif text[place] == "/" and not in_class:
            return place + 1
        place += 1
    return at
