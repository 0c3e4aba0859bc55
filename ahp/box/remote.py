"""`git-remote-ahp` in the box: gives the door outside the names, ids and refs that git asks for (gitremote-helpers(7)).

It runs alone, without ahp: `python -I -S remote.py DOOR REMOTE URL`. What it says is somebody's text to the door.
"""

import json
import socket
import subprocess
import sys

_OPTIONS = ("dry-run", "atomic", "cas", "verbosity", "progress")


def ask(wish: dict[str, object]) -> list[str]:
    """The lines that the door answers; what it has to say is printed."""
    with socket.socket(socket.AF_UNIX) as door:
        door.connect(f"\0{sys.argv[1]}")
        door.sendall(json.dumps(wish).encode("ascii") + b"\n")
        with door.makefile("rb") as answer:
            told = json.loads(answer.read())
    for line in told["said"]:
        print(f"ahp box: {line}", file=sys.stderr)
    if told["lines"] is None:
        sys.exit(128)
    lines: list[str] = told["lines"]
    return lines


def main() -> None:
    """Until git closes its end."""
    wish: dict[str, object] = {"remote": sys.argv[2]}
    options: list[str] = []
    batch: list[list[str]] = []
    sys.stdin.reconfigure(errors="surrogateescape")  # type: ignore[union-attr]
    sys.stdout.reconfigure(errors="surrogateescape")  # type: ignore[union-attr]
    for line in iter(sys.stdin.readline, ""):
        verb, _, rest = line.rstrip("\n").partition(" ")
        if verb == "capabilities":
            lines = ["option", "fetch", "push", ""]
        elif verb == "option":
            options.append(rest)
            lines = ["ok" if rest.split(" ")[0] in _OPTIONS else "unsupported"]
        elif verb == "list":
            lines = [*ask({**wish, "do": "list"}), ""]
        elif verb in ("fetch", "push"):
            batch.append([verb, *rest.split(" ", 1)])
            continue
        elif batch:
            pushes = batch[0][0] == "push"
            refs = [_pushed(" ".join(one[1:])) if pushes else one[1:] for one in batch]
            lines = [*ask({**wish, "do": batch[0][0], "refs": refs, "options": options}), ""]
            batch = []
        else:
            return
        print(*lines, sep="\n", flush=True)


def _pushed(refspec: str) -> list[str]:
    """Where to, what ("" to delete), its name here, and "+" where it is forced."""
    source, _, target = refspec.removeprefix("+").partition(":")
    argv = ["git", "rev-parse", "-q", "--verify", source]
    oid = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip() if source else ""
    return [target, oid, source, refspec[:1] if refspec.startswith("+") else ""]


if __name__ == "__main__":
    main()
