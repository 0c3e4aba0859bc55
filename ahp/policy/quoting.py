"""Frequent mistakes in quoting conditions in YAML, and the line as it was meant (design §4)."""

import ast
import re

import yaml

_ENTRY = re.compile(r"(\s*(?:- )*(?:[\w.\-]+|'[^']*'|\"[^\"]*\"):[ \t]+)(.+?)([ \t]+#.*)?$")
_ITEM = re.compile(r"(\s*(?:- )+)(.+?)([ \t]+#.*)?$")
# inside `{…}`: a value that goes on behind its quotes, and a call whose comma ends the value
_IN_FLOW = (
    re.compile(r"[{,]\s*[\w.\-]+: +((?:'[^']*'|\"[^\"]*\") [^,{}]*[^,{}\s])\s*(?=[,}])"),
    re.compile(r"[{,]\s*[\w.\-]+: +([^\s,{}\[\]'\"][^,{}\[\]'\"]*?\([^(){},]*,[^(){}]*\)[^,{}]*?)\s*(?=[,}])"),
    re.compile(r"[{,]\s*[\w.\-]+: +([\w.]+\([^(){},]*,[^(){}]*\)[^,{}]*?)\s*(?=[,}])"),
    re.compile(r"[{,]\s*[\w.\-]+: +(\{[^{},]*\} *[^,{}\s][^,{}]*?)\s*(?=[,}])"),
    re.compile(r"[{,]\s*[\w.\-]+: +([%@`][^,{}]*?)\s*(?=[,}])"),
    re.compile(r"[{,]\s*[\w.\-]+: +([^\s,{}\[\]'\"][^,{}]*?\{[^{}]*\}[^,{}]*?)\s*(?=[,}])"),
)
# an item of a list in brackets that begins as no value does
_IN_LIST = re.compile(r"(?<=[\[,])(\s*)([*&%@`][^,\[\]{}'\"]*?)(?=\s*[,\]])")
# a value in quotes that are quotes of its own, too: 'a == 'b''
_TWICE = re.compile(
    r"""([:,\[{-]\s+)(['"])((?:(?!\2)[^,{}\n])*\2(?:(?!\2)[^,{}\n])*\2(?:(?!\2)[^,{}\n])*)\2(?=\s*(?:[,}]|$))"""
)
_BLOCK = re.compile(r"[|>][-+0-9]*")  # begins a text of several lines
# what YAML reads as something else at the head of a plain value
_INDICATORS = "!'\"{[&*%@`|>#"


def quote(value: str) -> str:
    """`value` as a YAML scalar that is read back as the same text."""
    if '"' not in value and "\\" not in value:
        return f'"{value}"'
    return "'" + value.replace("'", "''") + "'"


def quote_if_needed(value: str) -> str:
    """`value` as an item of a list in brackets: bare where it is read back as the same text."""
    try:
        bare = not value.startswith("-") and yaml.load(f"[{value}]", Loader=yaml.CSafeLoader) == [value]
    except yaml.YAMLError:
        bare = False
    return value if bare else quote(value)


def mend_tag(line: str, column: int) -> str:
    """The line with the `!` at `column` (from 1) written as `not`; "" when that is not what was meant."""
    at = column - 1
    if not re.match(r"!\s*[(\w]", line[at:]) or line[at : at + 2] == "!!":
        return ""
    return (line[:at] + "not " + line[at + 1 :].lstrip()).strip()


def mend_line(line: str) -> str:
    """The line with the value quoted that cannot stand unquoted; "" when there is none or it is not clear which."""
    for found in re.finditer(r"[:\-,\[{]\s+(!)", line):
        mended = mend_tag(line, found.start(1) + 1)
        if mended and _loads(mended):
            return mended
    for found in _TWICE.finditer(line):
        mended = line[: found.start()] + found.group(1) + quote(found.group(3)) + line[found.end() :]
        if not _is_expression(found.group()[len(found.group(1)) :]) and _loads(mended):
            return mended.strip()
    mended = _IN_LIST.sub(lambda found: found[1] + quote(found[2]), line)
    if mended != line and _loads(mended):
        return mended.strip()
    for found in (match for pattern in _IN_FLOW for match in pattern.finditer(line)):
        mended = line[: found.start(1)] + quote(found.group(1)) + line[found.end(1) :]
        if _loads(mended):
            return mended.strip()
    for pattern in (_ENTRY, _ITEM):
        whole = pattern.match(line)
        if whole and _needs_quotes(whole.group(2)):
            mended = whole.group(1) + quote(_unwrapped(whole.group(2))) + (whole.group(3) or "")
            if _loads(mended):
                return mended.strip()
    return ""


def mend_escape(line: str, column: int) -> str:
    """The line with the text in double quotes around `column` (from 1) in single ones, where a backslash is itself."""
    begin, end = line.rfind('"', 0, column - 1), line.find('"', column - 1)
    if begin < 0 or end < 0:
        return ""
    text = line[begin + 1 : end].replace("'", "''")
    mended = f"{line[:begin]}'{text}'{line[end + 1 :]}"
    return mended.strip() if _loads(mended) else mend_line(mended)


def mend_item(line: str, column: int) -> str:
    """The line with the item of a list quoted that begins at `column` (from 1) and that a colon made a mapping."""
    item = re.compile(r"[^,\[\]{}]+" if "[" in line[: column - 1] else r".+?(?=\s+#|\s*$)").match(line, column - 1)
    if item is None:
        return ""
    mended = line[: item.start()] + quote(item[0].rstrip()) + line[item.end() :]
    return mended.strip() if _loads(mended) else ""


def mend_cut(value: str, line: str, end: int) -> str:
    """The line with its whole value quoted, where a ` #` inside quotes cut a plain value at column `end` (from 0)."""
    opened = re.search(r"(?:^|[\s(=,\[])(['\"])[^'\"]*$", value)
    rest = line[end:]
    if opened is None or not re.match(r"\s+#", rest) or opened.group(1) not in rest:
        return ""
    whole = re.match(r"(\s*(?:- )*[\w.\-]+:[ \t]+)(.+?)\s*$", line)
    return (whole.group(1) + quote(whole.group(2))).strip() if whole and _loads(line) else ""


def _needs_quotes(value: str) -> bool:
    if _BLOCK.fullmatch(value):
        return False
    if value[0] in "{[":
        # a list or mapping with a mistake inside, unless text follows its closing bracket
        return re.match(r"[{\[][^{}\[\]]*[}\]].", value) is not None
    return value[0] in _INDICATORS or ": " in value or value.endswith(":")


def _unwrapped(value: str) -> str:
    """A value in quotes, one of which inside ends it too early, without the outer ones: 'it's' is meant as it's."""
    is_wrapped = value[0] in "'\"" and value[-1] == value[0] and len(value) > 1
    return value[1:-1] if is_wrapped and not _is_expression(value) else value


def _is_expression(text: str) -> bool:
    """Whether the quotes of a value belong to texts in it, as in 'a' in x or y == 'b'."""
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _loads(line: str) -> bool:
    try:
        yaml.load(line.strip(), Loader=yaml.CSafeLoader)
    except yaml.YAMLError:
        return False
    return True


def mend_text(line: str, key: str) -> str:
    """The line with its whole value quoted, where `key` wants a text and YAML read something else; "" when unclear."""
    whole = _ENTRY.match(line)
    if whole is not None and whole.group(1).strip().lstrip("- ").rstrip(":").strip() != key:
        return ""  # the value is inside of another one
    whole = whole or _ITEM.match(line)
    if whole is None:
        return ""
    mended = whole.group(1) + quote(whole.group(2)) + (whole.group(3) or "")
    return mended.strip() if _loads(mended) else ""
