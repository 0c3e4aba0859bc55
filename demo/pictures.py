"""Pictures of the terminal for README and docs, made from real runs in a scratch repository.

    python demo/pictures.py [FOLDER]      writes FOLDER/*.svg; without a folder, docs/pictures

What changes with every run, ids and commit ids, is made the same in all: a picture changes when what ahp says does.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

PROJECT = Path(__file__).resolve().parents[1]
WIDTH = 56  # letters of ten pixels on a phone
TYPED = "\x1b[1m$ {}\x1b[0m"
CODE = {
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n',
    "src/lookup.py": "def lookup(table, key):\n    return table.get(key)\n",
}
SLOW = "def lookup(table, key):\n    breakpoint()\n    return table[key] if key in table else None\n"
ONE_TOPIC = """\
escalation: {ladder: [prompt, block], after: 2}
rules:
  one-topic:
    at: pre-commit
    prompt: files.changed_count > 2
    message: "{files.changed_count} files in one commit"
    fix: ["commit in parts: git add -p"]
"""
FAST = "def lookup(table, key):\n    return table[key] if key in table else None\n"

# As rich draws a terminal, but for its fonts, which it would load from elsewhere; no larger than the text of a page.
SVG = (
    re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    .replace("Fira Code", "ui-monospace, SFMono-Regular, Menlo, Consolas")
    .replace("<svg ", '<svg width="560" ', 1)
)


class Terminal:
    """Commands in `folder`, as a person at a terminal sees them."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
        self.env = {
            **kept,
            "HOME": str(home),
            "PATH": f"{Path(sys.executable).parent}:{kept.get('PATH', '/usr/bin:/bin')}",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_PAGER": "cat",
            "TERM": "xterm-256color",
            "COLUMNS": str(WIDTH),
            "LC_ALL": "C.UTF-8",
            "AHP_PATIENCE": "0",  # a slow machine makes hooks say what takes long
        }
        self.seen: list[str] = []

    def quietly(self, *commands: str) -> None:
        """Runs what the picture does not show. Raises CalledProcessError."""
        for command in commands:
            subprocess.run(["sh", "-c", command], cwd=self.folder, env=self.env, check=True, capture_output=True)

    def printed(self, command: str) -> str:
        """What a command prints that the picture does not show. Raises CalledProcessError."""
        argv = ["sh", "-c", command]
        return subprocess.run(argv, cwd=self.folder, env=self.env, check=True, capture_output=True, text=True).stdout

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def type(self, command: str, expected: int = 0, shown: str = "") -> None:
        """Runs a command at a terminal, and keeps it (or `shown`) and what it printed. Raises SystemExit."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            ["sh", "-c", command], cwd=self.folder, env=self.env, stdin=theirs, stdout=theirs, stderr=theirs
        )
        os.close(theirs)
        printed = b""
        with contextlib.suppress(OSError):  # EIO is how a terminal ends
            while data := os.read(ours, 65536):
                printed += data
        os.close(ours)
        if process.wait() != expected:
            raise SystemExit(f"{command!r} ended with {process.returncode}, not {expected}: {printed.decode()}")
        # Not splitlines: a progress bar goes back to the beginning of its line by a lone \r.
        text = printed.decode().replace("\r\n", "\n").removesuffix("\n")
        self.seen += [TYPED.format(shown or command), *(text.split("\n") if text else [])]

    def draw(self, path: Path, title: str) -> None:
        """Writes what was typed and printed since the last picture."""
        console = Console(width=WIDTH, record=True, file=io.StringIO(), force_terminal=True)
        console.print(Text.from_ansi(always_alike("\n".join(self.seen).replace(str(self.folder.parent), "/home/ann"))))
        path.write_text(console.export_svg(title=title, code_format=SVG, unique_id=path.stem), encoding="utf-8")
        self.seen = []


def always_alike(text: str) -> str:
    """`text` with ids and times that are the same in all runs, and without the progress bar of a slow machine."""
    text = re.sub(r"\x1b\[\?25l.*?\x1b\[\?25h", "", text, flags=re.DOTALL)
    text = re.sub(r"\r|\x1b\[[0-9;?]*[A-Zac-ln-z]", "", text)
    text = re.sub(r"\d{4}-\d\d-\d\d([ T])\d\d:\d\d:\d\d(?:\.\d+)?", r"2026-01-05\g<1>09:12:00", text)
    text = re.sub(r"(?<![\d-])\d\d-\d\d \d\d:\d\d(?!:)", "01-05 09:12", text)
    for made in ("3f2a91bc", "1f0c9a2b7d"):
        text = re.sub(rf"(?<![0-9a-f])[0-9a-f]{{{len(made)}}}(?![0-9a-f])", made, text)
    return re.sub(r"^((?:\x1b\[\d*m)*)[0-9a-f]{7}\b", r"\g<1>1f0c9a2", text, flags=re.MULTILINE)


def past() -> list[str]:
    """The commands that make 120 commits, the same ones each time: a large file, and two with many files."""
    odd = {
        31: "head -c 2000000 /dev/zero >src/shop.bin",
        58: "for i in $(seq 40); do seq 20 >src/name$i.py; done",
        97: "for i in $(seq 60); do seq 90 >src/name$i.py; done",
    }
    made = []
    for number in range(120):
        change = odd.get(number, f"echo {number} >src/part{number % 7}.py")
        at = f"2026-01-01T00:00:00 +{number:04d}" if number < 60 else f"2026-01-02T00:00:00 +{number - 60:04d}"
        commit = f"GIT_AUTHOR_DATE='{at}' GIT_COMMITTER_DATE='{at}' git commit -qm 'feat: part {number} of the shop'"
        made.append(f"{change} && git add . && {commit}")
    return made


def main(folder: Path) -> None:
    """Makes every picture."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="ahp-pictures-") as scratch:
        home, shop = Path(scratch, "home"), Path(scratch, "shop")
        home.mkdir()
        shop.mkdir()
        terminal = Terminal(shop, home)
        for name, value in {"user.name": "Ann", "user.email": "ann@example.org", "init.defaultBranch": "main"}.items():
            terminal.quietly(f"git config --global {name} '{value}'")
        terminal.quietly("git init -q")
        terminal.write(CODE)
        terminal.quietly(*past())
        terminal.type("ahp init")
        terminal.type("ahp install git")
        terminal.draw(folder / "init.svg", "ahp init")
        terminal.quietly("git add . && git commit -qm 'chore: add ahp'")
        terminal.write({"src/lookup.py": SLOW})
        terminal.type('git commit -q -am "feat: faster lookup"', expected=1)
        terminal.write({"src/lookup.py": FAST})
        terminal.type('git commit -q -am "feat: faster lookup"')
        terminal.type("git log --oneline --max-count=1")
        terminal.draw(folder / "refused.svg", "a commit, refused, then fixed")
        policy = (shop / ".ahp/hooks.yaml").read_text("utf-8")
        terminal.write({".ahp/hooks.yaml": policy.replace("rules:\n", ONE_TOPIC)})
        terminal.quietly("git commit -qam 'chore: one topic a commit'")
        for number, ends in enumerate((0, 0, 1)):
            terminal.write({f"src/{name}{number}.py": "" for name in ("cart", "price", "tax")})
            terminal.type(f'git add . && git commit -q -m "feat: cart, part {number + 1}"', ends)
        terminal.draw(folder / "warned.svg", "two warnings, then a refusal")
        last = terminal.printed("ahp log --format json --limit 1")
        terminal.type("ahp log --rule one-topic")
        terminal.draw(folder / "log.svg", "ahp log")
        terminal.type(f"ahp explain {json.loads(last)['id']}", shown="ahp explain 3f2a91bc")
        terminal.draw(folder / "explain.svg", "ahp explain")
        terminal.type("ahp try one-topic")
        terminal.draw(folder / "try.svg", "ahp try")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PROJECT / "docs" / "pictures")
