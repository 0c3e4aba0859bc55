"""The regular expressions of `find -regex` as patterns of paths: `.*\\.\\(c\\|h\\)` is `*.c` or `*.h`."""

_REPEATS = ("*", "+", "?", "{")


def globs(text: str, most: int) -> list[str]:
    """Patterns that together stand for all that the expression matches as a whole path, whatever its dialect; at most
    `most`. `*` is any text, `?` any character.
    """
    reader = _Reader(text, most)
    found = reader.alternatives()
    return list(dict.fromkeys(_short(one) for one in (found if reader.at >= len(text) else ["*"])))


class _Reader:
    def __init__(self, text: str, most: int) -> None:
        self._text, self._most = text, most
        self.at = 0
        self._depth = 0

    def alternatives(self) -> list[str]:
        found: list[str] = []
        while True:
            found += self._sequence()
            if self._sign() != "|":
                return found if len(found) <= self._most else ["*"]
            self.at += self._length()

    def _sequence(self) -> list[str]:
        found = [""]
        while self.at < len(self._text) and self._sign() not in ("|", ")"):
            atoms = self._atom()
            if self._sign() in _REPEATS:
                atoms = ["*"]
                self._skip_repeats()
            found = [one + atom for one in found for atom in atoms]
            if len(found) > self._most:
                found = ["*"]
        return found

    def _atom(self) -> list[str]:
        sign, char = self._sign(), self._text[self.at]
        if sign == "(" and self._depth < self._most:
            self.at += self._length()
            self._depth += 1
            found = self.alternatives()
            self._depth -= 1
            self.at += self._length() if self._sign() == ")" else 0
            return found
        if char == "[":
            end = self._text.find("]", self.at + 2)
            self.at = end + 1 if end >= 0 else len(self._text)
            return ["?"]
        if char == "\\":
            escaped = self._text[self.at + 1 : self.at + 2]
            self.at += 2
            return [escaped if escaped and not escaped.isalnum() else "?" if escaped else ""]
        self.at += 1
        return ["?" if char == "." else "" if char in "^$" else char]

    def _sign(self) -> str:
        """The operator that stands here, with or without a backslash, as the dialects have it; "" for none."""
        char = self._text[self.at : self.at + 1]
        if char == "\\":
            char = self._text[self.at + 1 : self.at + 2]
            return char if char in ("(", ")", "|", "{", "+", "?") and char else ""
        return char if char and char in "()|*+?{" else ""

    def _length(self) -> int:
        return 2 if self._text[self.at] == "\\" else 1

    def _skip_repeats(self) -> None:
        while (sign := self._sign()) in _REPEATS:
            if sign == "{":
                end = self._text.find("}", self.at)
                self.at = end + 1 if end >= 0 else len(self._text)
            else:
                self.at += self._length()


def _short(pattern: str) -> str:
    while "**" in pattern:
        pattern = pattern.replace("**", "*")
    return pattern
