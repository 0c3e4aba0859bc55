"""The index beside the log: is anything open for this subject? Answered without SQLite (design §2).  [light]

A header of fixed size names the log as it was when the last appender left it (inode, size, hash of the last line);
the lines after it name open episodes and the last policies. Where header or checksum
does not fit, the log has to be read (`ahp.journal.recovery`). It never means that nothing is open.
"""

import posix

from ahp.protocol.triggers import FORGET_AFTER, TRIGGERS
from ahp.system import clock, digest, files
from ahp.system.errors import AhpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = "ahp-index-4"
HEADER = 320
NO_HEAD = "0" * 64
_LIMIT = 64 << 20
_CHECK = 16
POLICIES = 32
_OPEN = posix.O_RDWR | posix.O_CLOEXEC | posix.O_NOFOLLOW | posix.O_NONBLOCK

# A clean tool call resets nothing (design §8.5): listing its episodes would only slow every later call.
_NEVER_RESET = "tool-use|"


class JournalUnwritable(AhpError):
    """A record could not be written, or not wholly: a block stays a block, the rest is refused or marked (issue 4)."""


class Index:
    """What the index says about a log.

    `inode`, `size` (bytes) and `head` (SHA-256 of the last line's bytes, hex) name the state of `signals.jsonl`, `torn`
    whether its last line lacks the newline, `serial` its number in the sequence of rotated files, `count` how many
    lines the whole chain has, `last` the time stamp of its last record, `genesis` the id that the chain began with (""
    before the first record). `keys` are the episode keys a clean evaluation may have to close, `policies` maps the
    digests of the last policies that the log describes to the commit that each record names ("" for a policy that no
    commit had).
    `window` is for how many seconds a signal is remembered that asked for longer than `FORGET_AFTER`, and `until` when
    (seconds since the epoch) the last such one is forgotten; both 0 without one.
    """

    __slots__ = (
        "body_check",
        "body_length",
        "changed",
        "count",
        "genesis",
        "head",
        "inode",
        "keys",
        "last",
        "policies",
        "serial",
        "size",
        "torn",
        "until",
        "window",
    )

    def __init__(self, genesis: str = "", serial: int = 1) -> None:
        self.inode = self.size = self.count = 0
        self.head, self.torn, self.last = NO_HEAD, False, ""
        self.genesis, self.serial = genesis, serial
        self.keys: set[str] = set()
        self.policies: dict[str, str] = {}
        self.window = self.until = 0.0
        self.changed, self.body_length, self.body_check = True, 0, ""

    def has_open(self, family: str, subject: str, actor_kind: str) -> bool:
        """Whether a clean evaluation of this family on this subject might have an episode to close (design §2)."""
        if not self.keys:
            return False
        start, end = escape(family) + "|", f"|{escape(subject)}|{escape(actor_kind)}"
        return any(key.startswith(start) and key.endswith(end) for key in self.keys)

    def describes(self, policy: str, committed: bool) -> bool:
        """Whether the log tells of the policy of this digest; where it is `committed`, with the commit that has it."""
        commit = self.policies.get(policy)
        return commit is not None and (commit != "" or not committed)

    def note(self, record: "Mapping[str, object]") -> None:
        """Takes up a record that was appended: opens, closes."""
        kind = record.get("kind")
        if kind == "signal":
            if (longer := forget_after(record)) > FORGET_AFTER and clock.is_iso(stamp := record.get("timestamp")):
                self.window = max(self.window, longer)
                self.until = max(self.until, clock.parse_iso(str(stamp)) + longer)
                self.changed = True
            if opens(record):
                key = key_of(record)
                if key not in self.keys and not key.startswith(_NEVER_RESET):
                    self.keys.add(key)
                    self.changed = True
        elif kind == "episode-end":
            key = key_of(record)
            if key in self.keys:
                self.keys.discard(key)
                self.changed = True
        elif kind == "policy":
            named = str(record.get("digest"))
            self.policies.pop(named, None)
            self.policies[named] = commit_of(record)
            for oldest in list(self.policies)[:-POLICIES]:
                del self.policies[oldest]
            self.changed = True

    def fits(self, inode: int, size: int) -> bool:
        """Whether the log is still the one, and as long, as when this index was written."""
        return self.inode == inode and self.size == size

    def body(self) -> bytes:
        """One line a name; no name can hold a tab or a newline (`escape`)."""
        lines = [f"open\t{key}\n" for key in sorted(self.keys)]
        lines += [f"policy\t{escape(digest)}\t{escape(commit)}\n" for digest, commit in self.policies.items()]
        lines += [f"window\t{self.window!r}\t{self.until!r}\n"] if self.window else []
        return "".join(lines).encode()

    def header(self) -> bytes:
        """The first `HEADER` bytes of the file, its own checksum last."""
        text = (
            f"{FORMAT} {self.inode} {self.size} {self.count} {self.torn:d} {self.serial} {self.head} {self.last or '-'}"
            f" {self.genesis or '-'} {self.body_length} {self.body_check}"
        )
        return f"{text} {digest.sha256(text.encode())[:_CHECK]}".encode().ljust(HEADER - 1) + b"\n"


def opens(record: "Mapping[str, object]") -> bool:
    """Whether a signal record begins or continues an episode: enforced and more than an aid (design §1, §8.2).

    What a push was told of its commits does neither: they are no attempts of its own (authority §5).
    """
    told = record.get("intensity") != "aid" and not record.get("shadow") and not record.get("waived")
    return told and record.get("commits") is None


def commit_of(record: "Mapping[str, object]") -> str:
    """The commit whose policy a policy record tells of, which may judge where nothing else does; "" where it is none.

    One that was only pushed is not in force anywhere (authority §2.3).
    """
    return "" if record.get("origin") == "pushed" else str(record.get("commit") or "")


def key_of(record: "Mapping[str, object]") -> str:
    """The episode key of a signal or episode-end record (design §8.3)."""
    get = record.get
    hook = str(get("hook"))
    trigger = TRIGGERS.get(hook)
    family = trigger.family if trigger else hook
    target = get("target") if family == "tool-use" else None
    kind = str(get("actor") or "").partition(":")[0]
    return episode_key(family, str(get("rule")), str(get("subject") or ""), kind, str(target) if target else None)


def forget_after(record: "Mapping[str, object]") -> float:
    """Seconds until the episode of a signal ends by itself (design §8.5)."""
    told = record.get("forget_after")
    if told is None:
        return FORGET_AFTER
    return float(told) if isinstance(told, int | float) and told > 0 else FORGET_AFTER


def window_of(record: "Mapping[str, object]") -> float:
    """How long (seconds) after this record something may still be open, if it is the last one of its log."""
    told = record.get("window")
    return max(FORGET_AFTER, forget_after(record), float(told) if isinstance(told, int | float) else 0.0)


def episode_key(family: str, rule: str, subject: str, actor_kind: str, target: "str | None" = None) -> str:
    """`family|rule|subject|actor kind[|target]`, on one line of printable characters whatever the parts hold."""
    key = f"{family}|{rule}|{subject}|{actor_kind}"
    if key.count("|") > 3 or not key.isprintable() or "%" in key:
        key = f"{escape(family)}|{escape(rule)}|{escape(subject)}|{escape(actor_kind)}"
    return key if target is None else f"{key}|{escape(target)}"


def escape(text: str) -> str:
    """`text` with `%`, `|` and all that is not printable as `%HEX;`: branch and file names may hold nearly anything."""
    if text.isprintable() and "|" not in text and "%" not in text:
        return text
    return "".join([c if c.isprintable() and c not in "|%" else f"%{ord(c):X};" for c in text])


def unescape(text: str) -> str:
    """What `escape` was given."""
    first, *rest = text.split("%")
    return first + "".join([chr(int(part.partition(";")[0], 16)) + part.partition(";")[2] for part in rest])


class IndexFile:
    """The index on disk. Kept open between appends, it costs one read and one write an append.

    It is written in place, by the holder of the log's lock: a rename costs more than the append itself. A reader
    of a half-written index sees a checksum that does not fit, and reads the log instead.
    """

    __slots__ = ("fd", "header", "index", "path")

    def __init__(self, path: str) -> None:
        self.path, self.fd, self.header = path, -1, b""
        self.index: Index | None = None

    def load(self) -> "Index | None":
        """The index; None when it is missing, cut, of another format or fails its checksum. Raises OSError.

        Loading again is free of parsing as long as the header stays the same.
        """
        if self.fd >= 0 and posix.fstat(self.fd).st_nlink == 0:
            self.close()  # removed meanwhile: it may fit a log of the same size that others wrote since
        if self.fd < 0:
            try:
                self.fd = posix.open(self.path, _OPEN)
            except FileNotFoundError:
                return None
            except OSError:
                self.fd = posix.open(self.path, _OPEN & ~posix.O_RDWR)  # a reader may not be allowed to write
        header = posix.pread(self.fd, HEADER, 0)
        if self.index is None or header != self.header:
            size = posix.fstat(self.fd).st_size
            body = posix.pread(self.fd, size - HEADER, HEADER) if HEADER < size < _LIMIT else b""
            self.header, self.index = header, parse(header, body)
        return self.index

    def save(self, index: "Index") -> None:
        """Writes `index`, its body only where that changed. Raises OSError."""
        if self.fd < 0:
            self.fd = posix.open(self.path, _OPEN | posix.O_CREAT, 0o600)
        if index.changed:
            body = index.body()
            index.body_length, index.body_check = len(body), digest.sha256(body)[:_CHECK]
            at = HEADER
            while body:
                written = posix.pwrite(self.fd, body, at)
                at, body = at + written, body[written:]
            index.changed = False
        self.header, self.index = index.header(), index
        posix.pwrite(self.fd, self.header, 0)

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the file and of what was read from it."""
        fd, self.fd, self.index = self.fd, -1, None  # also where closing fails: the number is another file's then
        if fd >= 0:
            files.let_go(fd)  # an index that was not written is made anew


class LogFiles:
    """Where one log lies, its lock, and the index beside it.

    `genesis` is the id that an installed hook knows its log by: a log that begins with another one is not the log it
    was installed with. The index stays open between appends; a process that appends once leaves closing it to its end.
    `loss` is what this process recorded of lines that are gone, as a sentence for the user; "" where none are.
    """

    __slots__ = ("folder", "genesis", "index_file", "index_path", "lock", "log_path", "loss")

    def __init__(self, folder: str, genesis: "str | None") -> None:
        self.folder, self.genesis = folder, genesis
        self.log_path, self.index_path = folder + "/signals.jsonl", folder + "/index"
        # Held by every appender while it writes; a person who is asked or refused waits rather than loses the record.
        self.lock = files.Lock(folder + "/signals.lock", 2.0)
        self.index_file = IndexFile(self.index_path)
        self.loss = ""

    def remembered(self) -> "Index | None":
        """The index, fitting or not: it may know of lines that are gone. None where it cannot be read."""
        try:
            return IndexFile(self.index_path).load()
        except OSError:
            return None

    def fitting(self) -> "Index | None":
        """The index if it fits the log; None when the log has to be read. Raises OSError."""
        log = status(self.log_path)
        if log is None:
            return None
        index = self.index_file.load()
        if index and index.fits(log.st_ino, log.st_size):
            return index
        self.index_file.close()
        return None


def parse(header: bytes, body: bytes) -> "Index | None":
    """The index in the bytes of its file, None when they are not whole."""
    try:
        fields = header.decode("ascii").split()
        if fields[-1] != digest.sha256(" ".join(fields[:-1]).encode())[:_CHECK]:
            return None
        name, inode, size, count, torn, serial, head, last, genesis, length, check = fields[:-1]
        body = body[: int(length)]
        if name != FORMAT or check != digest.sha256(body)[:_CHECK]:
            return None
        index = Index("" if genesis == "-" else genesis, int(serial))
        index.inode, index.size, index.count = int(inode), int(size), int(count)
        index.torn, index.head = torn == "1", head
        index.last = "" if last == "-" else last
        index.body_length, index.body_check, index.changed = int(length), check, False
        for line in body.decode().split("\n")[:-1]:
            word, first, *more = line.split("\t")
            if word == "open":
                index.keys.add(first)
            elif word == "window":
                index.window, index.until = float(first), float(more[0])
            else:
                index.policies[unescape(first)] = unescape(more[0]) if more else ""
    except (ValueError, IndexError):
        return None
    return index


def status(path: str) -> "posix.stat_result | None":
    """What is at `path`, links not followed; None where there is nothing. Raises OSError."""
    try:
        return posix.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return None
