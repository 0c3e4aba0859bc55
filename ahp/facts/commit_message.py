"""Commit messages as git stores and reads them: clean-up, subject and body, trailers, the conventional type."""

SCISSORS = "------------------------ >8 ------------------------"
_BLANKS = " \t\r\f\v"  # C's isspace, which git uses; other white space stays
_CHERRY = "(cherry picked from commit "
_GITS = ("Signed-off-by: ", _CHERRY)  # what git itself writes
_CANDIDATES = "#;@!$%^&|:"  # what git chooses from under core.commentChar=auto


def clean(text: str, mode: str, comment: str, edited: bool) -> str:
    """`text` as git stores it under `commit.cleanup` (git-commit, --cleanup).

    `mode` is strip, whitespace, verbatim, scissors or "" (git's default: strip what an editor showed, else
    whitespace). `comment` starts a comment line; `auto` looks at the text. `edited`: an editor showed it.
    """
    if comment == "auto":
        comment = _chosen(text)
    if mode not in ("strip", "whitespace", "verbatim", "scissors"):
        mode = "strip" if edited else "whitespace"
    if mode == "verbatim":
        return text
    lines = text.split("\n")
    # `commit --verbose` puts the diff below the same mark.
    if edited and comment + " " + SCISSORS in lines:
        lines = lines[: lines.index(comment + " " + SCISSORS)]
    if mode == "strip":
        lines = [line for line in lines if not line.startswith(comment)]
    return _tidy(lines)


def is_empty(text: str, mode: str) -> bool:
    """Whether git makes no commit for want of a message; `text` is cleaned up as `mode` says (git-commit).

    Signatures alone are no message to git.
    """
    if mode == "verbatim":
        return not text
    return all(not line.strip(_BLANKS) or line.startswith(_GITS[0]) for line in text.split("\n"))


def split(message: str) -> tuple[str, str]:
    """(subject, body): the first paragraph on one line, and what follows it."""
    lines = message.strip("\n").split("\n")
    # As `git log --format=%s` does.
    lines = lines[next((at for at, line in enumerate(lines) if line.strip(_BLANKS)), len(lines) - 1) :]
    end = next((at for at, line in enumerate(lines) if not line.strip()), len(lines))
    return " ".join([line.rstrip(_BLANKS) for line in lines[:end]]), "\n".join(lines[end:]).strip("\n")


def trailers(message: str) -> list[str]:
    """`Key: value` lines of the last paragraph, folded lines joined (git-interpret-trailers).

    The subject is no trailer. Git takes the paragraph when all its lines are trailers, or a quarter of them and one
    that git itself writes.
    """
    body = split(message)[1]
    lines = body.split("\n\n")[-1].strip("\n").split("\n") if body else []
    found: list[list[str]] = []  # the lines of each
    known, others, former = 0, 0, ""
    for line in lines:
        key, colon, value = line.partition(":")
        if line[:1] in (" ", "\t") and former in ("trailer", "git"):
            if former == "trailer":
                found[-1].append(line.strip())
            continue
        if line.startswith(_CHERRY):
            former = "git"
        elif colon and line[:1] not in (" ", "\t") and key.rstrip() and _is_token(key.rstrip()):
            former = "trailer"
            found.append([key.rstrip() + ": " + value.strip()])
        else:
            former = "other"
        known, others = known + (former != "other"), others + (former == "other")
    if others and not (any(line.startswith(_GITS) for line in lines) and known * 3 >= others):
        return []
    return [" ".join([first.rstrip(), *filter(None, rest[:-1]), rest[-1]]) if rest else first for first, *rest in found]


def conventional(subject: str) -> tuple[str, str, bool]:
    """(type, scope, is_breaking) of `feat(scope)!: text` (Conventional Commits 1.0.0); else type ""."""
    head, colon, text = subject.partition(":")
    if not colon or not text.startswith(" ") or not text.strip():
        return "", "", False
    breaking = head.endswith("!")
    head = head.removesuffix("!")
    scope = ""
    if head.endswith(")") and "(" in head:
        head, _, scope = head[:-1].partition("(")
        if not scope.strip() or "(" in scope or ")" in scope:
            return "", "", False
    if not head or not _is_token(head):
        return "", "", False
    return head.lower(), scope, breaking


def is_plain(text: str) -> bool:
    """Whether no clean-up removes a line: none begins with a possible comment character."""
    return all(line[:1].isalnum() or line[:1].isspace() or not line for line in text.split("\n"))


def _is_token(text: str) -> bool:
    return all(char.isascii() and (char.isalnum() or char == "-") for char in text)


def _chosen(text: str) -> str:
    """The comment character of a text that git wrote under `auto`: the one its last comment begins with."""
    for line in reversed(text.split("\n")):
        if line[:1] and line[:1] in _CANDIDATES:
            return line[0]
    return "#"


def _tidy(lines: list[str]) -> str:
    """Blank lines at both ends gone, several in a row made one, blanks at line ends gone; "" or ends in a newline."""
    kept: list[str] = []
    for line in lines:
        line = line.rstrip(_BLANKS)
        if line or (kept and kept[-1]):
            kept.append(line)
    while kept and not kept[-1]:
        kept.pop()
    return "\n".join(kept) + "\n" if kept else ""
