"""Text from outside in what a model reads: framed, so that it cannot pass for the runner's or the gate's words."""

from collections.abc import Iterable

from ahp.protocol.text import one_line


class Frames:
    """The frames of one run. Only who has read its prompts knows the `nonce`; a file or a test's output does not."""

    def __init__(self, nonce: str) -> None:
        self.nonce = nonce

    def around(self, text: str) -> str:
        """`text` as data. The nonce in it is replaced, so that it cannot end its own frame."""
        return f"<<<{self.nonce}\n{text.replace(self.nonce, '…')}\n>>>{self.nonce}"

    def inside(self, text: str) -> list[str]:
        """The texts that stand in frames in a text which the model has read."""
        begun = text.split(f"<<<{self.nonce}\n")[1:]
        return [part.partition(f"\n>>>{self.nonce}")[0] for part in begun]

    def gate(self, notes: Iterable[str]) -> list[str]:
        """The gate's notes under one heading that only the gate's have; nothing for none."""
        said = list(notes)
        return ["\n".join([f"Gate {self.nonce}:", *said])] if said else []

    def problem(self, text: str) -> str:
        """What went wrong: its first line on one line, the rest, such as the output of tests, as data."""
        first, _, rest = text.partition("\n")
        return one_line(first, 500) + (f"\n{self.around(rest)}" if rest.strip() else "")
