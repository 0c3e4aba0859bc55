"""Refused commands in other words: what a shell makes of each is the command itself (the classes are GuardFall's)."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator

REFUSED = (
    "git commit --no-verify -m x",
    "git push --no-verify origin HEAD:x",
    "git commit -nm x",
    "git -c core.hooksPath=/dev/null commit -m x",
    "git config core.hooksPath /tmp/h",
    "git update-ref refs/heads/main HEAD~1",
    "git push --force origin main",
    "rm -rf /",
    "rm -rf ~",
    "echo x > .ahp/hooks.yaml",
    "cp /tmp/h .ahp/hooks.yaml",
    "sed -i s/block/aid/ .ahp/hooks.yaml",
    "chmod -x .git/hooks/pre-commit",
)


def _quotes(command: str) -> Iterator[str]:
    program, _, rest = command.partition(" ")
    first, more = program[0], program[1:]
    for word in (f'"{program}"', f"{first}''{more}", f'{first}""{more}', f"\\{program}", f"{first}\\{more}"):
        yield f"{word} {rest}"
    yield f"$'\\x{ord(first):02x}'{more} {rest}"
    yield " ".join(word if word[0] in ">~" else f"'{word}'" for word in command.split())
    yield " ".join(w if len(w) < 3 or "=" in w else f"{w[:-1]}''{w[-1]}" for w in command.split())


def _variables(command: str) -> Iterator[str]:
    program, _, rest = command.partition(" ")
    yield f"x={program}; $x {rest}"
    yield f"a={program[0]}; b={program[1:]}; $a$b {rest}"
    yield f"c='{command}'; eval $c"
    yield f"c='{command}'; eval \"$c\""
    yield f'f() {{ {program} "$@"; }}; f {rest}'
    yield f"x=xx{program}; ${{x#xx}} {rest}"
    yield f"for x in {program}; do $x {rest}; done"
    yield f"read -r x <<< {program}; $x {rest}"
    if ">" not in command:
        yield command.replace(" ", "${IFS}")
        yield f'c=({command}); "${{c[@]}}"'


def _substitution(command: str) -> Iterator[str]:
    program, _, rest = command.partition(" ")
    for word in (f"$(echo {program})", f"`echo {program}`", f"$(printf %s {program})", f"$(command -v {program})"):
        yield f"{word} {rest}"
    yield f"$(echo {program[::-1]} | rev) {rest}"
    for around in ("echo $({})", 'echo "$({})"', "x=$({})", "true `{}`", "cat <({})", "({})", "if true; then {}; fi"):
        yield around.format(command)


def _interpreters(command: str) -> Iterator[str]:
    encoded, digits = base64.b64encode(command.encode()).decode(), command.encode().hex()
    yield f"echo {encoded} | base64 -d | sh"
    yield f'bash -c "$(echo {encoded} | base64 --decode)"'
    yield f'eval "$(base64 -d <<< {encoded})"'
    yield f"xxd -r -p <<< {digits} | sh"
    for around in (
        "sh <<< '{}'",
        "bash <(echo '{}')",
        "echo '{}' | bash -s",
        ". <(echo '{}')",
        "echo '{}' | tee s | sh",
    ):
        yield around.format(command)
    yield f"printf %s '{command}' > s.sh; sh s.sh"
    yield f"cat > s <<'E'\n{command}\nE\nbash s"
    yield f"python3 -c \"import os; os.system('{command}')\""
    yield f"python3 <<'E'\nimport subprocess\nsubprocess.run('{command}', shell=True)\nE"
    yield f"perl -e 'system(\"{command}\")'"
    yield f"ruby -e 'system(\"{command}\")'"
    yield f"node -e \"require('child_process').execSync('{command}')\""
    yield f"awk 'BEGIN {{ system(\"{command}\") }}'"


def _runners(command: str) -> Iterator[str]:
    """Other programs, and git itself, that run the command."""
    for before in ("env", "command", "nohup", "timeout 5", "sudo -u me", "setsid", "nice", "time", "exec", "coproc"):
        yield f"{before} {command}"
    for around in (
        *("busybox sh -c '{}'", "script -qc '{}' /dev/null", "flock l -c '{}'", "ssh localhost '{}'", "trap '{}' EXIT"),
        *("find . -maxdepth 0 -exec sh -c '{}' \\;", "xargs -I@ sh -c '{}' <<< a", "parallel ::: '{}'", "watch '{}'"),
        *("git -c alias.z='!{}' z", "git rebase -x '{}' HEAD~2", "git submodule foreach '{}'", "at now <<< '{}'"),
        *("git bisect run sh -c '{}'", "GIT_EDITOR='{}' git commit --amend", "tmux send-keys '{}' Enter"),
        *("docker run -v .:/r x sh -c '{}'", "vim -c '!{}' -c q", "make -f - <<'E'\nall:\n\t{}\nE"),
        *("echo ok\n{}", "true && {}", "false || {}", "{} # --dry-run", "{} &"),
    ):
        yield around.format(command)


CLASSES: dict[str, Callable[[str], Iterator[str]]] = {
    "quote removal": _quotes,
    "variable expansion": _variables,
    "command substitution": _substitution,
    "interpreters": _interpreters,
    "runners": _runners,
}


def of(name: str) -> list[str]:
    """Every rewriting of a class."""
    return [text for command in REFUSED for text in CLASSES[name](command)]
