"""Program texts of general languages (Python, JavaScript, Perl, Ruby, PHP …), read without running them.

They are read by what they share: strings, and the names of the functions that start programs. A string that looks
like a path is a file; what is handed to a shell is a text for one.
"""

from itertools import islice

from ahp.agents.shell import code_files
from ahp.agents.shell.code_files import given, parts_of
from ahp.agents.shell.code_values import STRING, STRINGS, added, unquoted, with_values
from ahp.agents.shell.usage import is_file, looks_like_a_path
from ahp.system.plain import Plain
from ahp.system.regex import regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Code(Plain):
    """What a program text does: the files that it reads, writes, or may do either with (`unsure`), the texts that it
    hands to a shell (`scripts`), the `commands` that it starts word by word. One that is `unknown` runs what is
    computed only while it runs; one that `changes` files may do so with those that it is given as arguments.
    """

    __slots__ = ("changes", "commands", "reads", "scripts", "unknown", "unsure", "writes")

    def __init__(
        self,
        *,
        reads: list[str] | None = None,
        writes: list[str] | None = None,
        scripts: list[str] | None = None,
        unknown: bool = False,
    ) -> None:
        self.reads, self.writes, self.scripts = reads or [], writes or [], scripts or []
        self.unsure: list[str] = []
        self.commands: list[list[str]] = []
        self.unknown = unknown
        self.changes = False

    def add(self, other: "Code") -> None:
        """What another part of the text does, too."""
        for name in ("reads", "writes", "unsure", "scripts", "commands"):
            getattr(self, name).extend(getattr(other, name))
        self.unknown |= other.unknown


# Functions that start a program wherever they are named; and those with everyday names, which do so where a module for
# it is named, too.
_START_NAMES = """run-shell-command system popen popen2 popen3 shell_exec passthru proc_open pcntl_exec Popen execSync
    execFile execFileSync spawnSync execl execle execlp execlpe execv execve execvp execvpe spawnl spawnlp spawnv
    spawnvp spawnve posix_spawn posix_spawnp callCommand esyscmd syscmd write18 exec getoutput getstatusoutput
    shell-command shell-command-to-string call-process start-process spawn_command_line_sync
    spawn_command_line_async"""
_EVERYDAY_NAMES = "Command run call check_call check_output spawn execute capture2 capture3 pipeline Exec sh shell term"
_STARTS, _MAY_START = frozenset(_START_NAMES.split()), frozenset(_EVERYDAY_NAMES.split())
_SPOKEN = "do shell script"
_CALL = regex(rf"(?:\b({'|'.join(sorted(_STARTS | _MAY_START))})(?![\w-])\s*|{_SPOKEN})[({{\[\s]*")
_MODULES = regex(
    r"\b(?:subprocess|child_process|os|pty|commands|sh|plumbum|pexpect|shelljs|execa|zx|Process|IO|Kernel|Open3|Runtime"
    r"|ProcessBuilder|ext|Posix|syscall|Bun|Deno)\b"
)
# The name of the program stands before the name that it is told: `execvp("git", ["git", "commit"])`.
_NAMED_TWICE = regex(r"exec[lv]|spawn[lv]|posix_spawn")
_QUOTED_COMMAND = regex(r"(?:%x|\bqx)\s*(?:\(([^)]*)\)?|\{([^}]*)\}?|\[([^\]]*)\]?|([/!|])(.*?)\4)")
_RENAMED = regex(
    r"(?:\A|[;\n])(?>[^;\n]*?\bimport\s)[^;\n]*\b(?:system|popen|Popen|run|call|exec\w*|spawn\w*|check_\w+)\s+as\b"
    r"|[{,]\s*(?:exec|spawn)\w*\s*:\s*\w+|=\s*[\w.]+(?:\([^()]*\))?\.(?:exec|spawn|popen|system)\w*\s*(?:[;,\n]|$)"
)
# `"TEXT".execute()` of Groovy.
_EXECUTED = regex(rf"({STRING})\.execute\(")
# Functions that delete a folder with all that is in it: what they do is `rm -r`.
_DELETES_ALL = regex(
    r"\b(?:rmtree|rm_rf|rm_r|remove_tree|remove_entry_secure|rmSync|removeSync|delete-directory(?:/files)?|rimraf"
    r"|deleteDirectory|deleteRecursively|RemoveAll|emptyDirSync)(?:[\s(]+)"
)
# Functions that unpack an archive, where they are given a folder: it is the second argument, or the first.
_UNPACKS = regex(r"\b(unpack_archive|extractall|extractAllTo)\(")
_ARCHIVES = regex(r"\b(?:tarfile\.open|TarFile(?:\.\w+)?|ZipFile|AdmZip)\(")
_KEYWORD = regex(r"\s*+(\w++)\s*+=(?!=)")
_FOLDER_NAMES = ("extract_dir", "path")
# `os.environ['X'] = 'y'`, `process.env.X = 'y'`, `ENV['X'] = 'y'`, `putenv('X=y')`.
_SETS = regex(
    r"\b(?:environ|env|ENV)(?:\[\s*['\"]|\.|->\{['\"]?|\{['\"]?)([A-Z][A-Z0-9_]*)['\"]?[\]}]?\s*=\s*['\"]?([\w./-]*)"
    r"|\bputenv\(\s*['\"]([A-Z][A-Z0-9_]*)(?:=|['\"]\s*,\s*['\"])([^'\"]*)"
)
# Libraries of git: `repo.git.commit("-n")` of GitPython is that command; with these, commits are made without hooks.
_GIT_CALLS = regex(r"\bgit\.(commit|push|config|update_ref|commit_tree|merge|rebase|am)\(")
_NO_HOOKS = regex(
    r"\bskip_hooks\s*=\s*True|\.create_commit\(|\A(?>[\s\S]*?\bporcelain\b)[\s\S]*\bcommit\(|\.do_commit\("
    r"|\bsetNoVerify\("
)
_HIDES = regex(
    r"\b(?:eval|exec|compile|getattr|__import__|import_module|globals|b64decode|fromhex|unhexlify|fromCharCode|atob|marshal"
    r"|pickle|Function|instance_eval|class_eval|unpack|pack|decodeURIComponent|urlopen|urllib|requests|codecs|chr|binding"
    r")\s*[\s(.]"
)
# The text of another file, which is run: `exec(open(F).read())`, `runpy.run_path(F)`; `do F` of Perl, `load F` of Ruby.
_RUNS_A_FILE = regex(
    r"\b(?:exec|eval)[ \t]*+\(\s*+(?:compile\(\s*+)?(?:io\.)?(?:open|(?:pathlib\.)?Path)\("
    r"|\brun_(?:path|module)\(|\bexecfile\(|(?:\A|[;{\n])[ \t]*+(?:do|load)[ \t]*+\(?['\"]"
)
_IS_JAVASCRIPT = regex(r"\brequire\(|=>|\bconst\b|\blet\b|\bconsole\.|\bimport\b")
_WRITES = regex(
    r"\brm\b|rm_|rmSync|put|\b(?:cp|mv|ln|ftruncate)\b|erase|\.text\s*="
    r"|write|remov|unlink|delete|renam|replace|rmtree|mkdir|makedirs|rmdir|touch|truncate|chmod|chown|symlink|hardlink"
    r"|copy|move|dump|save|append|extract|create|commit|system|exec|>|File\.|fs\.|shutil"
    r"|open\([^)]{0,300},\s*[rR]?['\"][^'\"]*[waxWAX+]|['\"]\s*[wax+]b?\s*['\"]"
)
_MODE = regex(r"['\"](?:[rwaxb+]{1,3}['\"]|\+?[<>|])")
_CALLS = 200


def general(text: str) -> Code:
    """A text in a language without a reader of its own."""
    text = added(text)
    found = Code()
    for called, arguments in islice(_calls(text), _CALLS):
        words = list(strings(arguments))
        if not words:
            found.unknown |= bool(arguments.strip(" )];,\n")) and called not in _MAY_START
        elif len(words) == 1 or any(map(str.isspace, words[0])):
            found.scripts.append(words[0])
        else:
            found.commands.append([words[0], *words[2 if _NAMED_TWICE.match(called) else 1 :]])
    found.scripts += [next(filter(None, parts[:3]), parts[4]) for parts in _QUOTED_COMMAND.findall(text)]
    found.scripts += [unquoted(one) for one in _EXECUTED.findall(text)]
    for match in islice(_DELETES_ALL.finditer(text), _CALLS):
        found.commands += [["rm", "-r", word] for word in strings(given(text, match.end()))]
    found.commands += _unpacked(text)
    for match in islice(_GIT_CALLS.finditer(text), _CALLS):
        found.commands.append(["git", match[1].replace("_", "-"), *strings(given(text, match.end()))])
    if _NO_HOOKS.search(text):
        found.commands.append(["git", "commit", "--no-verify"])
    _with_settings(found, text)
    if not _IS_JAVASCRIPT.search(text):  # there they are templates
        found.scripts += [unquoted(one) for one in STRINGS.findall(text) if one.startswith("`")]
    hidden = {match[0].rstrip(" (.\n") for match in _HIDES.finditer(text)} - ({"exec"} if found.scripts else set())
    found.unknown |= bool(hidden) or any(one.search(text) for one in (_RENAMED, _RUNS_A_FILE))
    told = code_files.told(text)
    writes = bool(told.writes) or _is_writing(text)
    texts = [one.lstrip("<>+|") for one in strings(told.rest if writes else text)]
    named = [one for one in texts if looks_like_a_path(one) or (one[:1] == "." and one != ".")]  # `walk(".")`
    files = [one for one in named if is_file(one) and one.isprintable()]
    found.writes = told.writes
    found.reads, found.unsure = ([], files) if writes else (files, [])
    found.changes = writes
    return found


def _unpacked(text: str) -> list[list[str]]:
    """The archives that are unpacked, as `tar` would be told."""
    if _UNPACKS.search(text) is None:
        return []
    text = with_values(text)
    opened = [word for call in islice(_ARCHIVES.finditer(text), _CALLS) for word in _first(given(text, call.end()))]
    found = []
    for call in islice(_UNPACKS.finditer(text), _CALLS):
        parts = parts_of(given(text, call.end()))
        names = {name[1]: part for part in parts if (name := _KEYWORD.match(part))}
        plain = [part for part in parts if part.strip() and _KEYWORD.match(part) is None]
        archives = _first(plain.pop(0)) if call[1] == "unpack_archive" and plain else opened
        told = [*plain[:1], *[names[name] for name in _FOLDER_NAMES if name in names]]
        folders = _first(told[0]) if told else ["."]
        found += [["tar", "-xf", archive, "-C", folder] for archive in archives for folder in folders]
    return found


def _first(text: str) -> list[str]:
    return list(strings(text))[:1]


def _is_writing(text: str) -> bool:
    """Whether a name in the text may be one of a function that writes."""
    return _WRITES.search(STRINGS.sub(lambda one: one[0] if _MODE.match(one[0]) else "''", text)) is not None


def _with_settings(found: Code, text: str) -> None:
    """Gives what the text runs the environment that it sets."""
    given = [f"{name or other}={value or more}" for name, value, other, more in _SETS.findall(text)]
    if given:
        found.scripts = [f"export {' '.join(given)}; {script}" for script in found.scripts]
        found.commands = [["env", *given, *command] for command in found.commands]


def strings(text: str) -> "Iterator[str]":
    """The texts of the strings in it."""
    return map(unquoted, STRINGS.findall(text))


def _calls(text: str) -> "Iterator[tuple[str, str]]":
    """The functions called that start programs, and their arguments as they stand."""
    names_a_module = _MODULES.search(text) is not None
    for found in _CALL.finditer(text):
        is_called = found.end() < len(text) and text[found.end() - 1] in "({[ \t\n"
        is_imported = text[: found.start()].endswith("import ")
        if is_called and not is_imported and (found[1] not in _MAY_START or names_a_module):
            yield found[1] or _SPOKEN, given(text, found.end())
