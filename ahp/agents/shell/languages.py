"""Program texts of small languages: awk, sed, ed and vi, patches, makefiles, crontabs, the clients of databases."""

from ahp.agents.shell.code import Code, general, strings
from ahp.agents.shell.code_values import STRING, Quoted, unquoted
from ahp.agents.shell.usage import is_file, looks_like_a_path
from ahp.system.regex import DOTALL, IGNORECASE, MULTILINE, regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def read(language: str, text: str) -> Code:
    """What a text does that the program, or the file, `language` is for; marks in it stand for what is not known."""
    return _LANGUAGES.get(language, general)(text)


_AWK_WRITES = regex(rf"\bprintf?\b[^;\n]{{0,500}}?>>?\s*({STRING})")
_AWK_RUNS = regex(rf"\bsystem\s*\(\s*({STRING})?|\|&?\s*({STRING})|({STRING})\s*\|&?\s*getline")
_AWK_COMPUTES = regex(rf"system\s*\(\s*(?!{STRING}\s*\))")
_AWK_JOINS = regex(rf"{STRING}(?:\s*[$\w](?>(?:{STRING}|[^|;}}\n])*)(\|&?\s*getline)?)?")
_AWK_NAMES = regex(r'\bprintf?\b[^;\n{}]{0,500}?>>?[ \t]*(?:"[^"\n]*"[ \t]*)?[A-Za-z_$(]')
_AWK_READS = regex(rf"getline[^;}}\n<]*<\s*({STRING})")


def _awk(text: str) -> Code:
    """`print > "FILE"`, `system("TEXT")`, `print | "TEXT"`, `"TEXT" | getline`."""
    scripts = [unquoted(next(filter(None, found), '""')) for found in _AWK_RUNS.findall(text)]
    found = Code(
        reads=[unquoted(one) for one in _AWK_READS.findall(text)],
        writes=[one for one in map(unquoted, _AWK_WRITES.findall(text)) if is_file(one)],
        scripts=[one for one in scripts if one],
        unknown=_AWK_COMPUTES.search(text) is not None or any(_AWK_JOINS.findall(text)),
    )
    if _AWK_NAMES.search(text):  # the name is computed: `print > f`, `print > $1`
        found.changes, found.unsure = True, [one for one in strings(text) if looks_like_a_path(one)]
    return found


_SED_WRITES = regex(r"(?:^|[;\n}/0-9$] *|[/gpIi0-9])[wW] +([^\n;]+)", MULTILINE)
_SED_GLUED = regex(r"(?:^|[;\n}] *)[wW]([./~][^\n;]*)")
_SED_RUNS = regex(r"(?:^|[;\n{] *|^[0-9$,/]+)e(?: +([^\n;]+)|$)|^s(.)(?:\\.|(?!\2).)*\2(?:\\.|(?!\2).)*\2[gpiIm0-9]*e")


def _sed(text: str) -> Code:
    """`w FILE`, `s///w FILE`, `e TEXT`, `s///e`."""
    runs = [found[1] or "" for found in _SED_RUNS.finditer(text)]
    return Code(
        writes=[one.strip() for one in _SED_WRITES.findall(text) + _SED_GLUED.findall(text) if is_file(one.strip())],
        scripts=[one for one in runs if one],
        unknown="" in runs,
    )


_EX_PARTS = regex(r"\n|(?<!\\)\|")
_EX_RUNS = regex(
    r"^[\s:]*+(?:silent!?\s++)?[%0-9,.$']*+\s*+(?:r(?:ead)?\s*)?!\s*(.*)|^[\s:]*+term(?:inal)?\s+(.+)", DOTALL
)
_EX_SHELL = regex(r"^[\s:]*(?:sh(?:ell)?|term(?:inal)?)\s*$|\b(?:system|term|shell-command|call-process)\b\s*[(\"]")
_EX_OPENS = regex(
    r"^[\s:]*(?:e(?:dit)?|vi(?:sual)?|new|vnew|sp(?:lit)?|vs(?:plit)?|tabe(?:dit)?|tabnew|f(?:ile)?)!?\s+(\S+)"
)
_EX_CALLS = regex(r"^[\s:]*(?:call|let|echo|lua|luado|py3?|py3?do|python3?|perl|ruby|tcl)\b|^\s*[\w.]+\(")
_EX_WRITES = regex(r"^[\s:]*(?:%|[0-9,.$]*)(?:w(?:rite)?|sav(?:eas)?|W|wq|x|up(?:date)?)!?\s+(?:>>\s*)?(\S+)")


def _ex(text: str) -> Code:
    """ed, ex and vi: `!TEXT`, `w FILE`."""
    found = Code()
    for part in _EX_PARTS.split(text):
        if runs := _EX_RUNS.match(part):
            found.scripts.append((runs[1] or runs[2] or "").strip())
        elif _EX_SHELL.search(part):
            found.unknown = True
        elif writes := _EX_WRITES.match(part):
            found.writes.append(writes[1])
        elif opens := _EX_OPENS.match(part):  # what is written then
            found.unsure.append(opens[1])
        elif _EX_CALLS.match(part):
            found.add(general(part))
    found.unknown |= "" in found.scripts
    return found


_CLIENT_RUNS = regex(r"^[^\S\n]*(?:\\?!|\.?(?:shell|system)\b|esyscmd\()\s*(.*)", MULTILINE)
_CLIENT_WRITES = regex(
    r"^[^\S\n]*(?:\.(?:output|once|backup|save|log|excel)|\\o(?:ut)?)\s+(\S+)|\bINTO\s+OUTFILE\s+(\S+)",
    MULTILINE | IGNORECASE,
)


def _client(text: str) -> Code:
    """Clients and debuggers: `!TEXT`, `.shell TEXT`, `.output FILE`."""
    scripts = [found[1].strip() for found in _CLIENT_RUNS.finditer(text)]
    writes = [(found[1] or found[2]).strip("'\"") for found in _CLIENT_WRITES.finditer(text)]
    return Code(writes=writes, scripts=[one for one in scripts if one], unknown="" in scripts)


_PERL_NAMES = regex(r"<([\w.~/*?\[\]{},-]*[*?/][\w.~/*?\[\]{},-]*)>")


def _perl(text: str) -> Code:
    """Perl: `unlink <src/*>` is a pattern of the shell between brackets."""
    quoted = Quoted(text)
    return general(_PERL_NAMES.sub(lambda one: one[0] if quoted.has(one.start()) else f'"{one[1]}"', text))


_TCL_RUNS = regex(r"\b(?:spawn|exec|system)\s+([^;\n]+)")
_TCL_FILES = regex(r"\bfile\s+(delete|rename|copy)\s+([^;\n\]]+)")
_TCL_OPENS = regex(r"\bopen\s+(\S+)\s+[\"{]?(?:[wa]|r\+)")
_TCL_PROGRAMS = {"delete": "rm -r", "rename": "mv", "copy": "cp -r"}


def _tcl(text: str) -> Code:
    """expect and Tcl: `spawn COMMAND`, `exec COMMAND`, `file delete FILES`, `open FILE w`."""
    scripts = [found.strip() for found in _TCL_RUNS.findall(text)]
    scripts += [f"{_TCL_PROGRAMS[verb]} {words}" for verb, words in _TCL_FILES.findall(text)]
    return Code(scripts=scripts, writes=[one.strip('"{}') for one in _TCL_OPENS.findall(text)])


_PATCHED = regex(
    r"^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |(?:---|\+\+\+) (?:[ab]/)?|rename (?:from|to) )(.+)$",
    MULTILINE,
)


def _patch(text: str) -> Code:
    """The files that a patch changes, as diff, git and Codex write them."""
    named = [found.split("\t")[0].strip() for found in _PATCHED.findall(text)]
    return Code(writes=[one for one in dict.fromkeys(named) if is_file(one)], unknown=not named)


_MAKE_RUNS = regex(r"^\t[@+-]*(.+)|^[\w.%/ -]+:[^=;\n]*;(.+)|\$[({]shell\s+([^)}]+)[)}]?|^\w+\s*!=\s*(.+)", MULTILINE)


def _make(text: str) -> Code:
    """A makefile: its recipes, and `$(shell …)`."""
    return Code(scripts=[next(filter(None, found)) for found in _MAKE_RUNS.findall(text)])


_JUST_RUNS = regex(r"^[ \t]+[@-]*(.+)", MULTILINE)


def _just(text: str) -> Code:
    """A justfile: its recipes, indented in any way."""
    return Code(scripts=_JUST_RUNS.findall(text))


def _emacs(text: str) -> Code:
    """Emacs Lisp; what it does by calls is read as in other languages."""
    found = general(text)
    found.unknown |= _EX_SHELL.search(text) is not None and not found.scripts
    return found


_SCRIPTS = regex(r'"scripts"\s*:\s*\{([^}]*)\}?')
_SCRIPT = regex(rf"{STRING}\s*:\s*({STRING})")


def _package(text: str) -> Code:
    """The scripts of a `package.json` or `composer.json`."""
    block = _SCRIPTS.search(text)
    return Code(scripts=list(map(unquoted, _SCRIPT.findall(block[1] if block else ""))))


_CRON_TIME = regex(r"^(?:@\w+|(?:\S+\s+){5})\s*")


def _crontab(text: str) -> Code:
    """The commands of a crontab, behind their five fields or an `@daily`."""
    lines = [line.strip() for line in text.split("\n")]
    commands = [_CRON_TIME.sub("", line) for line in lines if line and not line.startswith("#")]
    return Code(scripts=commands)


_NAMES: "dict[Callable[[str], Code], str]" = {
    _awk: "awk gawk mawk nawk bwk",
    _sed: "sed gsed",
    _ex: "ed red ex vi vim nvim view vimdiff gvim nano",
    _emacs: "emacs",
    _client: "sqlite3 litecli duckdb mysql mariadb mycli psql usql pgcli cockroach sftp ftp lftp telnet gdb lldb dc m4",
    _perl: "perl",
    _tcl: "expect tclsh wish",
    _patch: "patch git apply_patch applypatch",
    _make: "make gmake bmake GNUmakefile makefile Makefile",
    _just: "just justfile Justfile",
    _package: "package.json composer.json",
    _crontab: "crontab",
}
_LANGUAGES = {name: reader for reader, names in _NAMES.items() for name in names.split()}
