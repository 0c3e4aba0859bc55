"""What a search for files passes over, and what it looks for: `find`, `grep -l`, `git grep -l`, `git ls-files`."""

from itertools import pairwise

from ahp.agents.shell import marks, programs
from ahp.agents.shell.marks import Marks
from ahp.agents.shell.search import Search
from ahp.shell import options

_NAMES = ("-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename")
_OR = ("-o", "-or", ",")
_NOT = ("!", "-not")
_HIDDEN_TOO = {"-.", "--hidden", "--unrestricted"}
_SPECIAL = frozenset("\\.[]*^$+?{}|()\n")  # in a regular expression
_LETTERS = frozenset("rRlIinwHszZF")  # of options with which a word is what it is
HERE = "./"
_SKIP_HIDDEN = ("rg", "ag", "ack", "ugrep")
FD_RUNS = frozenset(("-x", "-X", "--exec", "--exec-batch"))
FD_VALUES = frozenset(("-e", "-t", "-E", "-d", "-S", "-j", "--extension", "--type", "--exclude", "--max-depth"))


def of_find(args: list[str], known: Marks) -> "Search | None":
    """`find ROOTS TESTS`; None where it finds only files at the top."""
    filters: list[tuple[str, str]] = []
    pairs = [*pairwise(args)]
    is_shallow = ("-maxdepth", "1") in pairs
    if is_shallow and ("-type", "f") in pairs:
        return None
    branches: list[list[str]] = [[]]
    is_pruned = False
    for index, word in enumerate(args):
        given = known.pattern(args[index + 1]) if index + 1 < len(args) else ""
        if word in _OR:
            branches += [] if is_pruned else [[]]
            is_pruned = False
        elif word == "-prune":
            filters += [
                ("prune" if "path" in name or "whole" in name else "folder", text)
                for name, text in _pairs(args[:index], known)
            ]
            branches[-1], is_pruned = [], True
        elif word in _NAMES:
            kind = "name" if "whole" not in word and "path" not in word else "path"
            if args[index - 1] in _NOT:  # at the top it leaves a folder out with what is in it
                is_told = marks.is_known("".join(args[index + 1 : index + 2]))
                filters += [("folder" if kind == "name" and is_shallow else kind, given)] * is_told
            else:
                branches[-1].append(f"{'' if kind == 'path' else '*/'}{given}")
    if len(branches) > 1 and all(branches):
        filters += [("take", text) for branch in branches for text in branch]
    return Search(tuple(filters), HERE)


def _pairs(args: list[str], known: Marks) -> list[tuple[str, str]]:
    """The names and paths of the branch that ends here: `( -name a -o -name b ) -prune`."""
    found: list[tuple[str, str]] = []
    closed = args[-1:] == [")"]
    for index in range(len(args) - 1, 0, -1):
        if (args[index] == "(" and closed) or (args[index] in _OR and not closed) or args[index] == "-prune":
            break
        if args[index - 1] in _NAMES and marks.is_known(args[index]):
            found.append((args[index - 1], known.pattern(args[index])))
    return found


def of_fd(args: list[str], known: Marks) -> "Search | None":
    """`fd OPTIONS PATTERN FOLDERS`; None for what finds no hidden files."""
    args = args[: next((at for at, word in enumerate(args) if word in FD_RUNS), len(args))]
    flags = [word for word in args if word.startswith("-")]
    letters = {letter for word in flags if not word.startswith("--") for letter in word[1:]}
    if not {"H", "u"} & letters and not _HIDDEN_TOO & set(flags):
        return None
    values = [
        *pairwise(args),
        *((name, value) for name, is_told, value in (w.partition("=") for w in flags) if is_told),
    ]
    out = [value.strip("/") for value in _left_out(values, known, "-E", "--exclude")]
    filters = [("path", f"*{value}*") if "/" in value else ("folder", value) for value in out]
    kinds = [value for name, value in values if name in ("-e", "--extension")]
    filters += [("take", f"*.{value}") for value in kinds] if all(map(marks.is_plain, kinds)) else []
    words = [word for before, word in pairwise(["", *args]) if word[:1] != "-" and before not in FD_VALUES]
    looked_for = words[0] if words else ""
    if (
        not marks.is_plain(looked_for)
        or {"g", "p", "F"} & letters
        or {"--glob", "--full-path", "--fixed-strings"} & set(flags)
    ):
        return Search(tuple(filters))  # of what it looks for nothing is told
    begins = looked_for.startswith("^")
    return Search((*filters, ("keeps", f"(?i){'(?:^|/)' * begins}{looked_for.removeprefix('^')}")))


def of_listing(program: str, args: list[str], known: Marks) -> "Search | None":
    """`grep -rl WORD FOLDERS`, `git grep -l WORD`, `git ls-files`, `ls`, `du`; None for what finds no hidden files."""
    if program == "git":
        if not args or args[0] not in ("grep", "ls-files") or {"-m", "-o", "-d", "--others", "--modified"} & set(args):
            return None
        out = [word for word in args[1:] if word.startswith((":!", ":^", ":(exclude)"))]
        told = [known.pattern(one) for one in out if marks.is_known(one)]
        filters = [("prune", one.removeprefix(":(exclude)").lstrip(":!^")) for one in told]
        inside = [word for word in args[1:] if word not in out]
        return (
            _for_word("git.grep", inside, [*filters, ("prune", ".git")])
            if args[0] == "grep"
            else Search((*filters, ("prune", ".git")))
        )
    letters = "".join(arg[1:] for arg in args if arg.startswith("-") and not arg.startswith("--"))
    if program == "ls":
        return Search() if {"a", "A", "f"} & set(letters) else None
    if program == "du":
        return Search(tuple(("folder", value) for value in _left_out(_values(program, args), known, "--exclude")))
    if program == "tree":
        out = [name for value in _left_out([*pairwise(args)], known, "-I") for name in value.split("|")]
        return Search(tuple(("folder", name) for name in out)) if "a" in letters else None
    if program in _SKIP_HIDDEN and not (_HIDDEN_TOO & set(args) or letters.count("u") > 1):
        return None
    values = _values(program, args)
    filters = [("folder", value) for value in _left_out(values, known, "--exclude-dir")]
    filters += [("name", value) for value in _left_out(values, known, "--exclude")]
    filters += [("take", f"*/{known.pattern(value)}") for name, value in values if name == "--include"]
    return _for_word(program, args, filters)


def _left_out(values: list[tuple[str, str]], known: Marks, *names: str) -> list[str]:
    """The patterns of what options leave out. One that is known only when it runs may leave nothing out."""
    return [known.pattern(value) for name, value in values if name in names and marks.is_known(value)]


def _values(program: str, args: list[str]) -> list[tuple[str, str]]:
    listed = programs.of(program)
    return options.parse(args, listed.spec if listed else options.ANY).values


def _for_word(program: str, args: list[str], filters: list[tuple[str, str]]) -> Search:
    """With the word that is looked for, where it is a plain one."""
    listed = programs.of(program)
    read = options.parse(args, listed.spec if listed else options.ANY)
    letters = {letter for flag in read.flags if not flag.startswith("--") for letter in flag[1:]}
    longs = {flag for flag in read.flags if flag.startswith("--")}
    given = {name for name, _ in read.values} & {"-e", "--regexp", "-f", "--file"}
    word = read.operands[0] if read.operands and not given else ""
    is_plain = marks.is_known(word) and not marks.is_wild(word) and not set(word) & _SPECIAL
    is_plain = is_plain and letters <= _LETTERS and not longs & {"--invert-match", "--files-without-match"}
    prefix = HERE if {".", HERE} & set(read.operands[1:]) else ""
    return Search(tuple(filters), prefix, word if is_plain else "", "i" in letters or "--ignore-case" in longs)
