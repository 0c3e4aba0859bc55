"""Program texts in other languages (`python -c`, `awk`, `sed`, `vim -c`, a patch), read without running them.

Strings in them that look like paths are files; what they hand to a shell is read as one.
"""

import re
from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

from ahp.shell.usage import is_file, looks_like_a_path


class Code(NamedTuple):
    """What a program text does."""

    reads: list[str]
    writes: list[str]
    unsure: list[str]
    """Files that it may read or write."""
    scripts: list[str]
    """Texts that it hands to a shell."""
    commands: list[list[str]]
    """Commands that it starts word by word."""
    unknown: bool = False
    """It runs what is made up only while it runs."""


_STRING = (
    r"""(?:"{3}(?:\\.|[^\\])*?"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)"""
)
_STRINGS = re.compile(_STRING, re.S)
_JOINED = re.compile(r"(['\"])\s*(?:\+|\.(?=\s*['\"]))\s*\1|(['\"]) *\2(?=[^,)\s])")
_RUNS = re.compile(
    r"\b(run-shell-command|system|popen\d?|exec[lv]p?e?|spawn[lv]?p?e?|posix_spawnp?|Popen|run|call|check_call|check_output|getoutput"
    r"|getstatusoutput|shell_exec|passthru|proc_open|pcntl_exec|exec|execSync|execFile|execFileSync|spawn|spawnSync"
    r"|callCommand|execute|capture[23e]?|pipeline|esyscmd|syscmd|write18|term|qx|Exec|sh|shell|shellescape"
    r")\b\s*[({\[\s]*"
)
_MODULES = re.compile(
    r"\b(?:subprocess|child_process|os|pty|commands|sh|plumbum|pexpect|shelljs|execa|zx|Process|IO|Kernel|Open3|Runtime"
    r"|ProcessBuilder|ext|Posix|syscall|Bun|Deno)\b"
)
_ALWAYS = frozenset(
    [
        "system",
        "popen",
        "popen2",
        "shell_exec",
        "passthru",
        "proc_open",
        "pcntl_exec",
        "Popen",
        "execSync",
        "spawnSync",
        "execl",
        "execlp",
        "execv",
        "execvp",
        "execve",
        "spawnl",
        "spawnlp",
        "spawnv",
        "spawnvp",
        "callCommand",
        "esyscmd",
        "syscmd",
        "write18",
        "qx",
        "exec",
        "run-shell-command",
        "getoutput",
    ]
)
_HIDES = re.compile(
    r"\b(?:eval|exec|compile|getattr|__import__|import_module|globals|b64decode|fromhex|unhexlify|fromCharCode|atob|marshal"
    r"|pickle|Function|instance_eval|class_eval|unpack|pack|decodeURIComponent|urlopen|urllib|requests|codecs|chr)\s*[\s(.]"
)
# JavaScript, whose backquotes hold templates and no commands.
_SCRIPT_TEMPLATES = re.compile(r"\brequire\(|=>|\bconst\b|\blet\b|\bconsole\.|\bimport\b")
_CALLS, _LONGEST = 200, 4000
_WRITES = re.compile(
    r"write|remov|unlink|delete|renam|replace|rmtree|mkdir|makedirs|rmdir|touch|truncate|chmod|chown|symlink|hardlink"
    r"|copy|move|dump|save|append|open\([^)]{0,300},\s*[rR]?['\"][^'\"]*[waxWAX+]|['\"]\s*[wax+]b?\s*['\"]|>|File\.|fs\.|shutil"
    r"|extract|create|commit|system|exec"
)


def read(language: str, text: str) -> Code:
    """Reads the program text that the program `language` runs; marks in it stand for what is not known."""
    return _LANGUAGES.get(language, _general)(text)


def _general(text: str) -> Code:
    """Python, JavaScript, Perl, Ruby and their like: by their strings and the calls that start programs."""
    text = _JOINED.sub("", text)
    scripts: list[str] = []
    commands: list[list[str]] = []
    unknown = False
    known_module = bool(_MODULES.search(text))
    for found in islice(_RUNS.finditer(text), _CALLS):
        called = text[found.end() - 1 : found.end()] in "({[ \t\n" and found.end() < len(text)
        if not called or not (found[1] in _ALWAYS or known_module) or text[: found.start()].endswith("import "):
            continue
        arguments = _arguments(text, found.end())
        words = [_unquoted(one) for one in _STRINGS.findall(arguments)]
        if not words:
            unknown = unknown or (bool(arguments.strip(" )];,\n")) and found[1] not in ("sh", "run", "call", "term"))
        elif len(words) == 1 or any(map(str.isspace, words[0])):
            scripts.append(words[0])
        else:
            named = found[1].startswith(("execl", "spawnl"))  # its second argument is the name that the program sees
            commands.append([words[0], *words[2:]] if named else words)
    if not _SCRIPT_TEMPLATES.search(text):
        scripts += [_unquoted(one) for one in _STRINGS.findall(text) if one.startswith("`")]
    hides = any(match.group(0).rstrip(" (.\n") not in ("exec",) or not scripts for match in _HIDES.finditer(text))
    files = [one for one in map(_unquoted, _STRINGS.findall(text)) if looks_like_a_path(one) or one.startswith(".")]
    files = [one for one in files if is_file(one) and "\n" not in one and " " not in one]
    writes = bool(_WRITES.search(_STRINGS.sub(_mode, text)))
    return Code([] if writes else files, [], files if writes else [], scripts, commands, unknown or hides)


def _mode(found: re.Match[str]) -> str:
    """Strings say nothing of what the program does, but for the modes of `open`."""
    return found[0] if re.fullmatch(r"['\"][rwaxb+]{1,3}['\"]", found[0]) else "''"


def _arguments(text: str, start: int) -> str:
    """The arguments of a call up to its bracket, or of one without brackets up to the end of the statement."""
    depth = 1 if text[start - 1 : start] in "([{" else 0
    plain = depth == 0
    place = start
    while place < min(len(text), start + _LONGEST):
        string = _STRINGS.match(text, place)
        if string:
            place = string.end()
            continue
        char = text[place]
        depth += (char in "([{") - (char in ")]}")
        if (plain and char in ";\n}") or (not plain and depth == 0) or depth < 0:
            break
        place += 1
    return text[start:place]


def _unquoted(string: str) -> str:
    size = 3 if string[:3] in ('"""', "'''") and len(string) >= 6 else 1
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), string[size:-size])


_AWK_OUTPUT = re.compile(rf"\bprintf?\b[^;\n]{{0,500}}?>>?\s*({_STRING})")
_AWK_RUNS = re.compile(rf"\bsystem\s*\(\s*({_STRING})?|\|&?\s*({_STRING})|({_STRING})\s*\|&?\s*getline")
_AWK_READS = re.compile(rf"getline[^;}}\n]*<\s*({_STRING})")


def _awk(text: str) -> Code:
    scripts = [_unquoted(next(filter(None, found), '""')) for found in _AWK_RUNS.findall(text)]
    writes = [_unquoted(one) for one in _AWK_OUTPUT.findall(text)]
    reads = [_unquoted(one) for one in _AWK_READS.findall(text)]
    computed = re.search(rf"system\s*\(\s*(?!{_STRING}\s*\))|{_STRING}\s*[$\w][^|;}}\n]*\|&?\s*getline", text)
    return Code(reads, [one for one in writes if is_file(one)], [], [one for one in scripts if one], [], bool(computed))


_SED_FILE = re.compile(r"(?:^|[;\n}/0-9$] *|[/gpIi0-9])[wW] +([^\n;]+)", re.M)
_SED_RUNS = re.compile(
    r"(?:^|[;\n{] *|^[0-9$,/]+)e(?: +([^\n;]+)|$)|^s(.)(?:\\.|(?!\2).)*\2(?:\\.|(?!\2).)*\2[gpiIm0-9]*e"
)


def _sed(text: str) -> Code:
    """`w FILE` and `s///w FILE` write; `e COMMAND` and `s///e` run."""
    writes = [one.strip() for one in _SED_FILE.findall(text) if is_file(one.strip())]
    runs = [found[1] or "" for found in _SED_RUNS.finditer(text)]
    return Code([], writes, [], [one for one in runs if one], [], any(not one for one in runs))


_EX = re.compile(
    r"^[\s:]*(?:silent!?\s+)?(?:[%0-9,.$']*)\s*(?:r(?:ead)?\s*)?!\s*(.*)|^[\s:]*(?:terminal|term)\s+(.+)", re.S
)
_EX_SHELL = re.compile(
    r"^[\s:]*(?:sh(?:ell)?|term(?:inal)?)\s*$|\b(?:system|term|shell-command|call-process)\s*\(|\(term\b"
)
_EX_FILE = re.compile(r"^[\s:]*(?:%|[0-9,.$]*)?(?:w(?:rite)?|sav(?:eas)?|W|wq|x|up(?:date)?)!?\s+(?:>>\s*)?(\S+)")


def _ex(text: str) -> Code:
    """The commands of ed, ex and vi: `!COMMAND`, `w FILE`."""
    scripts, writes, unknown = [], [], False
    for part in re.split(r"\n|(?<!\\)\|", text):
        if found := _EX.match(part):
            scripts.append((found[1] or found[2]).strip())
        elif _EX_SHELL.search(part):
            unknown = True
        elif found := _EX_FILE.match(part):
            writes.append(found[1])
    return Code([], writes, [], [one for one in scripts if one], [], unknown or "" in scripts)


_BANG = re.compile(r"^\s*(?:\\?!|\\!|\.?(?:shell|system)\b|esyscmd\()\s*(.*)", re.M)
_SQL_FILE = re.compile(
    r"^\s*(?:\.(?:output|once|backup|save|log|excel)|\\o(?:ut)?)\s+(\S+)|\bINTO\s+OUTFILE\s+(\S+)", re.M | re.I
)


def _client(text: str) -> Code:
    """Clients and debuggers: `!COMMAND`, `.shell COMMAND`, `.output FILE`."""
    scripts = [found[1].strip() for found in _BANG.finditer(text)]
    writes = [(found[1] or found[2]).strip("'\"") for found in _SQL_FILE.finditer(text)]
    return Code([], writes, [], [one for one in scripts if one], [], "" in scripts)


_PATCHED = re.compile(
    r"^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |(?:---|\+\+\+) (?:[ab]/)?|rename (?:from|to) )(.+)$",
    re.M,
)


def _patch(text: str) -> Code:
    """The files that a patch changes, as diff, git and Codex write them."""
    named = [found[1].split("\t")[0].strip() for found in _PATCHED.finditer(text)]
    return Code([], [one for one in dict.fromkeys(named) if is_file(one)], [], [], [], not named)


def _make(text: str) -> Code:
    """A makefile: its recipes, and `$(shell …)`."""
    scripts = [line.lstrip("\t@-+") for line in text.split("\n") if line.startswith("\t")]
    scripts += [line.partition(";")[2] for line in text.split("\n") if re.match(r"[\w.%/ -]+:[^=;]*;", line)]
    scripts += re.findall(r"\$[({]shell\s+([^)}]+)[)}]|^\w+\s*!=\s*(.+)$", text, re.M) and [
        one or other for one, other in re.findall(r"\$[({]shell\s+([^)}]+)[)}]|^\w+\s*!=\s*(.+)$", text, re.M)
    ]
    return Code([], [], [], [one for one in scripts if one.strip()], [])


def _scripts(text: str) -> Code:
    """The scripts of a `package.json` or `composer.json`."""
    block = re.search(r'"scripts"\s*:\s*\{([^}]*)\}', text)
    named = re.findall(rf"{_STRING}\s*:\s*({_STRING})", block[1]) if block else []
    return Code([], [], [], [_unquoted(one) for one in named], [])


def _crontab(text: str) -> Code:
    """The commands of a crontab, behind their five fields or an `@daily`."""
    lines = [line.strip() for line in text.split("\n") if line.strip() and not line.strip().startswith("#")]
    return Code([], [], [], [re.sub(r"^(?:@\w+|(?:\S+\s+){5})\s*", "", line) for line in lines], [])


_LANGUAGES: dict[str, Callable[[str], Code]] = {
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk", "bwk"), _awk),
    **dict.fromkeys(("sed", "gsed"), _sed),
    **dict.fromkeys(["ed", "red", "ex", "vi", "vim", "nvim", "view", "vimdiff", "gvim", "emacs", "nano"], _ex),
    **dict.fromkeys(
        ["sqlite3", "mysql", "mariadb", "psql", "sftp", "ftp", "lftp", "telnet", "gdb", "lldb", "dc", "m4"], _client
    ),
    **dict.fromkeys(("patch", "git", "apply_patch", "applypatch"), _patch),
    **dict.fromkeys(("make", "gmake", "bmake", "just"), _make),
    "crontab": _crontab,
    **dict.fromkeys(("GNUmakefile", "makefile", "Makefile", "justfile", "Justfile"), _make),
    **dict.fromkeys(("package.json", "composer.json"), _scripts),
}
