"""The redirects of a command: what it reads, and the files that its output goes to."""

from ahp.agents.shell import marks, usage
from ahp.agents.shell.expansion import Expander, text
from ahp.agents.shell.marks import Unknown
from ahp.agents.shell.state import State
from ahp.system.plain import Plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Node

_WRITES = (">", ">>", ">|", "&>", "&>>", ">&")


class Redirects(Plain):
    """The redirects of one command.

    `stdin` is what it reads; None when nothing was given to it. Of its `writes`, `appends` keep what they hold, and
    `takes` get its output; the others get its errors.
    """

    __slots__ = ("appends", "stdin", "takes", "writes")

    def __init__(
        self,
        stdin: str | None = None,
        writes: tuple[str, ...] = (),
        appends: frozenset[str] = frozenset(),
        takes: frozenset[str] = frozenset(),
    ) -> None:
        self.stdin, self.writes, self.appends, self.takes = stdin, writes, appends, takes

    def reading(self, stdin: str | None) -> "Redirects":
        """The same where it reads something else."""
        return Redirects(stdin, self.writes, self.appends, self.takes)


class RedirectReader:
    """Reads the redirects in a syntax tree."""

    def __init__(self, state: State, expander: Expander) -> None:
        self._state = state
        self._expander = expander

    def added(self, node: "Node", former: Redirects) -> Redirects:
        """The redirects with one more."""
        if node.type == "herestring_redirect":
            words = [self._expander.word(child) for child in node.named_children if child.type != "file_descriptor"]
            return former.reading(words[-1] + "\n") if words else former
        if node.type == "heredoc_redirect":
            body = next((child for child in node.named_children if child.type == "heredoc_body"), None)
            former = former.reading(self._expander.heredoc(body) if body is not None else "")
            for child in node.named_children:  # `cat <<E > f`
                former = self.added(child, former) if child.type == "file_redirect" else former
            return former
        operator = next((child.type for child in node.children if not child.is_named), "")
        targets = self.destinations(node)
        if operator == "<" and targets:
            return former.reading(self._content(text(node), targets[0]))
        if operator not in _WRITES:
            return former
        written = [word for word in targets if not (operator == ">&" and (word.isdigit() or word == "-"))]
        descriptor = node.child_by_field_name("descriptor")
        takes = written if descriptor is None or text(descriptor) == "1" else []
        return Redirects(
            former.stdin,
            (*former.writes, *written),
            former.appends.union(written if ">>" in operator else ()),
            former.takes.union(takes),
        )

    def destinations(self, node: "Node") -> list[str]:
        """The word behind a redirect's operator; several where it holds a list."""
        targets = node.children_by_field_name("destination")
        return [word for child in targets[:1] for word in self._expander.words(child)]

    def _content(self, source: str, path: str) -> str | None:
        """What is read from `< path`: a text that the script wrote, the output of `<(…)`, else a file's."""
        if marks.is_known(path) and not usage.is_file(path):
            return None  # `</dev/tty`
        stored = self._state.stored(path)
        if stored is not None:
            return stored
        mark = self._state.marks.mark(Unknown(source, "file"))
        self._state.marks.opened[mark] = (path,)
        return mark


def arguments_behind(redirect: "Node") -> "list[Node]":
    """Arguments behind a redirect, which the grammar takes for more files of it: `git push >l --force`."""
    if redirect.type == "file_redirect":
        closes = any(child.type in ("<&-", ">&-") for child in redirect.children)  # and takes no file at all
        return redirect.children_by_field_name("destination")[0 if closes else 1 :]
    inner = [
        one for child in redirect.named_children if child.type == "file_redirect" for one in arguments_behind(child)
    ]
    return redirect.children_by_field_name("argument") + inner


def commands_behind(redirect: "Node") -> "list[Node]":
    """Commands behind a here-document's word, which the grammar puts inside the redirect: `cat <<E | sh`."""
    inside = ("heredoc_start", "heredoc_end", "heredoc_body", "file_descriptor", "file_redirect")
    return [
        child for child in redirect.named_children if redirect.type == "heredoc_redirect" and child.type not in inside
    ]


def is_descriptor(child: "Node", command: "Node") -> bool:
    """Whether a word is none: the grammar takes the 0 of `git push 0<&2` and of `0<f git push` for one."""
    behind = child.next_sibling or command.next_sibling
    redirects = behind is not None and behind.type.endswith("_redirect") and behind.start_byte == child.end_byte
    word = child.children[0] if child.type == "command_name" and child.children else child
    return redirects and word.type == "number"
