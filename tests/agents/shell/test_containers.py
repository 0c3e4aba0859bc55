"""ahp.agents.shell.containers"""

from __future__ import annotations

import pytest

from ahp.agents.shell.commands import read


@pytest.mark.parametrize(
    ("script", "writes"),
    [
        ("docker run -v .:/w alpine rm -rf /w/.ahp", ["./.ahp"]),
        ("docker run -v $PWD/.ahp:/x:rw alpine tee /x/hooks.yaml", ["./.ahp/hooks.yaml"]),
        ("docker run -v $(pwd):/w alpine sh -c 'cd /w && echo > a'", ["./a"]),
        ("docker run --mount type=bind,source=.git,target=/g alpine tee /g/hooks/x", [".git/hooks/x"]),
        ("podman run --volume=.:/a -v ./b:/a/c alpine tee /a/d /a/c/e", ["./d", "./b/e"]),
        ("cd sub && docker run -v .:/w -v data:/d alpine rm -rf /w/x /d/y", ["sub/./x"]),
        ("docker run -v .:/w/x alpine rm -rf /", ["."]),
        ("docker run -v .:/w -w /w alpine rm -rf a", ["a"]),
        ("docker run alpine sh -c 'rm -rf /var/cache ~/x; echo > /etc/passwd'", []),
        ("docker run -v /cache alpine rm -rf /cache/x", []),
        ("docker run -v .:/w alpine true; rm -rf /w", ["/w"]),
        ("docker run -v /:/host alpine rm -rf /host/etc", ["/host/etc"]),
        ("docker run --privileged alpine rm -rf /etc", ["/etc"]),
        ("docker run --mount source=.,target=$X alpine rm -rf /etc", ["/etc"]),
        ("docker exec c rm -rf /etc", ["/etc"]),
    ],
)
def test_what_is_mounted_is_written_here_and_nothing_else(script: str, writes: list[str]) -> None:
    assert [path for one in read(script) for path in one.writes] == writes
