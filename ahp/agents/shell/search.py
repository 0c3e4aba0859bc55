"""A search for files: what it passes over, and what it looks for."""

from ahp.shell import options
from ahp.system.plain import Plain


class Search(Plain):
    """A search of all files below a folder, hidden ones too.

    Of `filters` each is (kind, text): `path` and `name` leave out what has this path, or this base name; `prune` and
    `folder` what has it or lies in it; `take` keeps it, and several keep what one of them keeps; `keeps` and `drops`
    are the regular expressions of a grep that its names pass through. The names begin with `prefix`. Only files that
    hold `word` are found, "" for all; `folds` where upper and lower case are one.
    """

    __slots__ = ("filters", "folds", "prefix", "word")

    def __init__(
        self, filters: "tuple[tuple[str, str], ...]" = (), prefix: str = "", word: str = "", folds: bool = False
    ) -> None:
        self.filters, self.prefix, self.word, self.folds = filters, prefix, word, folds

    def through(self, args: list[str]) -> "Search":
        """The same behind a `grep` of the names that it prints."""
        read = options.parse(args, options.ANY)
        letters = "".join(flag[1:] for flag in read.flags if not flag.startswith("--"))
        texts = read.operands[:1]
        if len(texts) != 1 or set(letters) - set("EvPiaz") or any(flag.startswith("--") for flag in read.flags):
            return self
        text = (
            texts[0]
            if {"E", "P"} & set(letters)
            else texts[0].replace("\\|", "|").replace("\\(", "(").replace("\\)", ")")
        )
        kind = "drops" if "v" in letters else "keeps"
        return Search(
            (*self.filters, (kind, f"(?i){text}" if "i" in letters else text)), self.prefix, self.word, self.folds
        )
