"""What a command prints, where reading it is enough to know: the text may become a script, a file name, an argument."""

from ahp.shell.expansion import Word

UNKNOWN = Word("", False)
_MOST = 1 << 14


def printed(program: str, args: list[str], stdin: Word | None) -> Word:
    """The output of `echo`, `printf`, and of `cat` of a literal here-document; UNKNOWN for everything else."""
    text: str | None = None
    if program == "echo":
        text = " ".join(arg for arg in args if arg not in ("-n", "-e", "-E"))
    elif program == "printf" and args:
        text = _formatted(args[0], args[1:])
    elif program in ("cat", "tee") and stdin is not None and not any(arg != "-" for arg in args):
        return stdin
    return UNKNOWN if text is None or len(text) > _MOST else Word(text)


def _formatted(template: str, args: list[str]) -> str | None:
    """`printf` with `%s` alone; the template is used again while arguments are left, as printf does."""
    text = template.replace("\\n", "\n").replace("\\t", "\t")
    holes = text.count("%s")
    if text.count("%") != holes:
        return None
    if not holes:
        return text
    filled = ""
    for start in range(0, max(len(args), 1), holes):
        given = (args[start : start + holes] + [""] * holes)[:holes]
        pieces = text.split("%s")
        filled += pieces[0] + "".join(value + piece for value, piece in zip(given, pieces[1:], strict=True))
    return filled
