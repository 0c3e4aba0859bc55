"""Another hook manager's checks as rules of ahp: `ahp import` (docs/other-hook-managers.md).

All of them do the same: run a command on what is staged of some files, and refuse where it fails or changes one. That
is a rule with `action: run`. What is asked at a push, or about no file, is a command fact and a rule on its exit code.
"""

import json
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from ahp.conditions import regexes
from ahp.conditions.globs import PatternError
from ahp.hosts import vendoring
from ahp.protocol.text import one_line
from ahp.system import files
from ahp.system.errors import AhpError

_LIMIT = 1 << 20  # bytes of a file that is read
_TIMEOUT = "300s"
_NAMES = ' "$@"'
# Tags that every file has which a rule is asked about, and those that a fact tells.
_EVERY = frozenset(["file", "regular"])
_MODE = "any(c.path == {path} and c.mode == '100755' for c in files.changes)"
_TOLD = {"text": "{path} not in files.binary", "binary": "{path} in files.binary", "executable": _MODE}
_TOLD["non-executable"] = f"not {_MODE}"
_VERBOSE = re.compile(r"\\.|\[(?:\\.|[^]\\])*]|\s+|#[^\n]*", re.DOTALL)
_LINT_STAGED = re.compile(r"^(?:(?:npx|bunx|yarn|pnpm)(?: exec| dlx| run)?(?: --no-install| --no)? )?lint-staged$")


class _Dumper(yaml.SafeDumper):
    """Lists in one line, mappings in lines of their own, as people write policies."""

    def represent_sequence(self, tag: str, sequence: Any, flow_style: bool | None = None) -> yaml.SequenceNode:
        return super().represent_sequence(tag, sequence, flow_style=True)


class NotTaken(Exception):
    """Why a check cannot be taken over."""


@dataclass
class Imported:
    """What was made of a manager's configuration: the keys of a policy, what each rule comes from, why others were left
    out, and the programs that have to be installed.
    """

    rules: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)
    programs: dict[str, str] = field(default_factory=dict)

    def text(self, manager: str) -> str:
        """The policy as YAML text."""
        policy = {"version": 1, **({"facts": self.facts} if self.facts else {}), "rules": self.rules}
        head = f"# Written by `ahp import {manager}`. Commands run once a person accepted them: ahp trust\n"
        return head + yaml.dump(policy, Dumper=_Dumper, sort_keys=False, width=110, allow_unicode=True)

    def take(self, name: str, made: Iterable[Any]) -> None:
        """Adds what is made of one check, or why nothing is. `made` are pairs of a kind and its keys."""
        key = taken = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:80].lower() or "check"
        number = 1
        while key in self.rules:
            number += 1
            key = f"{taken}-{number}"
        try:
            for kind, keys in made:
                if kind == "fact":
                    fact = "check_" + key.replace("-", "_")  # no name of ahp's own begins so
                    self.facts[fact] = {**keys, "parse": "exit", "timeout": _TIMEOUT}
                elif kind == "asked":
                    said = {
                        "block": f"{fact}.exit_code != 0",
                        "on_missing": "prompt",
                        "message": f"{one_line(name)} fails",
                    }
                    self.rules[key] = {**keys, **said}
                else:
                    self.rules[key] = keys
        except NotTaken as error:
            self.left[name] = str(error)
        except (AttributeError, TypeError, ValueError) as error:
            self.left[name] = f"its settings have another shape than documented: {one_line(error)}"


def read(manager: str, root: str) -> Imported:
    """What `manager` is told to do in the project at `root`. Raises AhpError."""
    done = Imported()
    for name, made in MANAGERS[manager](root, done):
        done.take(name, made)
    if not done.rules and not done.left:
        raise AhpError(f"{manager} does nothing here that ahp could take over")
    return done


Checks = Iterator[tuple[str, Iterable[Any]]]


def _pre_commit(root: str, done: Imported) -> Checks:
    config = _mapping(_loaded(root, ".pre-commit-config.yaml"))
    for repo in _mappings(config.get("repos")):
        address, revision = str(repo.get("repo", "")), str(repo.get("rev", ""))
        known: dict[str, Any] = {}
        if address not in ("local", "meta"):
            try:
                text = vendoring.file_of(address, revision, ".pre-commit-hooks.yaml")
            except AhpError as error:
                done.left |= {str(hook.get("id")): str(error) for hook in _mappings(repo.get("hooks"))}
                continue
            known = {str(one.get("id")): one for one in _mappings(_yaml(text or b"", address))}
        for hook in _mappings(repo.get("hooks")):
            name = str(hook.get("id", ""))
            whole = {**known.get(name, {}), **hook}
            where = "" if address == "local" else f"{one_line(address)} {one_line(revision)}"
            yield name, _hook(config, whole, where, done)


def _hook(config: dict[str, Any], hook: dict[str, Any], where: str, done: Imported) -> Iterator[tuple[str, Any]]:
    """A hook of pre-commit: https://pre-commit.com/#new-hooks."""
    language, entry = str(hook.get("language", "")), str(hook.get("entry", ""))
    if not language or not entry:
        raise NotTaken("it is about pre-commit's own settings" if not where or "meta" in where else f"not in {where}")
    stages = hook.get("stages") or config.get("default_stages") or ["pre-commit"]
    ats = {"commit": "pre-commit", "push": "pre-push", "merge-commit": "pre-merge-commit"}
    at = [one for one in (ats.get(str(stage), str(stage)) for stage in stages) if one in ats.values()]
    if not at:
        raise NotTaken(f"it runs at {one_line(', '.join(map(str, stages)))}")
    words = [*shlex.split(entry), *map(str, hook.get("args") or [])]
    path = "l.path" if language == "pygrep" else "p"
    matched = _matched(config, hook, path)
    named = str(hook.get("name") or hook.get("id"))
    begun = {"at": at[0] if len(at) == 1 else at}
    if language == "fail":
        found = " and ".join([*matched, "p not in files.deleted"])
        yield "rule", {**begun, "each": "p in files.changed", "block": found, "message": one_line(entry)}
    elif language == "pygrep":
        if set(words[1:]) - {"-i", "--ignore-case"}:
            raise NotTaken(f"ahp has no option of pygrep's as {one_line(' '.join(words[1:]))}")
        pattern = _pattern(("(?i)" if words[1:] else "") + entry)
        found = " and ".join([*matched, f"matches(l.text, {json.dumps(pattern)})"])
        finding = {"file": "l.path", "line": "l.line"}
        yield "rule", {**begun, "each": "l in diff.added", "block": found, "message": named, "finding": finding}
    elif language in ("docker", "docker_image"):
        raise NotTaken("it runs in a container")
    elif language == "script" and where:
        raise NotTaken(f"what it runs lies in {where}")
    else:
        if language not in ("script", "system", "unsupported", "unsupported_script"):
            needs = ", ".join(map(str, hook.get("additional_dependencies") or ()))
            done.programs[words[0]] = where or needs or f"a program for {language}"
        takes_names = hook.get("pass_filenames", True) is not False
        yield from _command(begun, named, words, matched, takes_names, always=bool(hook.get("always_run")))


def _command(
    begun: dict[str, Any],
    named: str,
    words: list[str],
    matched: list[str],
    takes_names: bool,
    *,
    always: bool = False,
    more: dict[str, Any] | None = None,
) -> Iterator[tuple[str, Any]]:
    """A command on the files that match; `more` are further keys of the action."""
    if begun["at"] == "pre-push" or (always and not takes_names):
        if takes_names:
            raise NotTaken("it gets the names of the files that are pushed")
        yield "fact", {"run": words}
        yield "asked", {"at": begun["at"]}
    elif not isinstance(begun["at"], str):
        raise NotTaken("it runs at several stages")
    else:
        run = words if takes_names else ["sh", "-c", shlex.join(words), words[0]]
        action = {"type": "run", "command": run, "timeout": _TIMEOUT, **(more or {})}
        control = " and ".join(matched) or "len(p) > 0"  # which every path has
        yield (
            "rule",
            {**begun, "each": "p in files.changed", "control": control, "message": one_line(named), "action": action},
        )


def _matched(config: dict[str, Any], hook: dict[str, Any], path: str) -> list[str]:
    """The conditions on a file's `path`."""
    found = []
    for keys in (config, hook):
        if files_ := keys.get("files"):
            found.append(f"matches({path}, {json.dumps(_pattern(str(files_)))})")
        if exclude := keys.get("exclude"):
            found.append(f"not matches({path}, {json.dumps(_pattern(str(exclude)))})")
    found += [_of([tag], path) for tag in hook.get("types") or () if tag not in _EVERY]
    if (either := list(hook.get("types_or") or ())) and not _EVERY & set(either):
        found.append(_of(either, path))
    if no := list(hook.get("exclude_types") or ()):
        found.append(f"not {_of(no, path)}")
    return found


def _of(tags: list[Any], path: str) -> str:
    """The condition that the file at `path` has one of the tags. The library of pre-commit tells the names for one."""
    conditions = [_TOLD[tag].format(path=path) for tag in tags if tag in _TOLD]
    if wanted := set(tags) - _TOLD.keys():
        conditions.append(f"glob({path}, {json.dumps(_names(wanted))})")
    return conditions[0] if len(conditions) == 1 else f"({' or '.join(conditions)})"


def _names(tags: set[Any]) -> list[str]:
    try:
        from identify.extensions import EXTENSIONS, NAMES
    except ModuleNotFoundError:
        how = "install it beside ahp: pip install identify"
        raise AhpError(f"`identify` tells which files pre-commit means; {how}") from None
    if unknown := tags - {tag for has in [*EXTENSIONS.values(), *NAMES.values()] for tag in has}:
        raise NotTaken(f"no name tells whether a file is {one_line(', '.join(map(str, sorted(unknown))))}")
    found = [f"*.{name}" for name, has in EXTENSIONS.items() if has & tags]
    return sorted([*found, *[name for name, has in NAMES.items() if has & tags]])


def _pattern(text: str) -> str:
    """Python's regular expression as RE2 takes it."""
    if text.startswith("(?x)"):
        kept = _VERBOSE.sub(lambda found: "" if found[0][0].isspace() or found[0][0] == "#" else found[0], text[4:])
        text = kept
    try:
        regexes.regex(text)
    except PatternError as error:
        raise NotTaken(f"its pattern is none that ahp knows: {one_line(str(error))}") from None
    return text


def _lefthook(root: str, done: Imported) -> Checks:
    names = (f"{dot}lefthook.{end}" for dot in ("", ".") for end in ("yml", "yaml"))
    config = _mapping(next((data for name in names if (data := _loaded(root, name, needed=False)) is not None), {}))
    for key in ("extends", "remotes", "remote"):
        if key in config:
            done.left[key] = "what other files bring stays there"
    for hook in ("pre-commit", "pre-push", "commit-msg", "prepare-commit-msg", "post-checkout", "post-merge"):
        told = _mapping(config.get(hook))
        commands = [{"name": name, **_mapping(one)} for name, one in _mapping(told.get("commands")).items()]
        for at, one in enumerate([*commands, *_mappings(told.get("jobs"))]):
            yield str(one.get("name") or f"{hook}-{at}"), _job(hook, {**one})
        for name in _mapping(told.get("scripts")):
            done.left[str(name)] = "it is a script of lefthook's own folder"


def _job(hook: str, job: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """A command or job of lefthook: https://lefthook.dev/configuration."""
    if hook not in ("pre-commit", "pre-push"):
        raise NotTaken(f"it runs at {hook}")
    for key in ("skip", "only", "files", "file_types", "group", "script", "glob_matcher"):
        if job.get(key):
            raise NotTaken(f"`{key}` has no counterpart")
    run, named = str(job.get("run", "")), str(job.get("fail_text") or job.get("name"))
    found = []
    if globs := job.get("glob"):
        found.append(_lefthook_globs(globs))
    if (exclude := job.get("exclude")) and isinstance(exclude, str):
        found.append(f"not matches(p, {json.dumps(_pattern(exclude))})")
    elif exclude:
        found.append(f"not {_lefthook_globs(exclude)}")
    takes_names = "{staged_files}" in run
    run = run.replace("{staged_files}", '"$@"').strip()
    if "{" in re.sub(r"\$\{", "", run) and (other := re.search(r"\{(\w+)\}", run)):
        raise NotTaken(f"`{{{other[1]}}}` has no counterpart")
    env = [f"{key}={value}" for key, value in _mapping(job.get("env")).items()]
    words = [*(["env", *env] if env else []), "sh", "-c", run, str(job.get("name") or "job")]
    more: dict[str, Any] = {"directory": str(job["root"]).rstrip("/")} if job.get("root") else {}
    more |= {"stage": True} if job.get("stage_fixed") else {}
    if hook == "pre-push" or takes_names:
        yield from _command({"at": hook}, named, words, found, takes_names, more=more)
    else:  # the names that it gets are parameters that its text does not use
        yield from _command({"at": hook}, named, words, found, True, more=more)


def _lefthook_globs(globs: Any) -> str:
    """The condition that one of lefthook's globs matches: they are of the whole path, and their `*` crosses slashes."""
    told = [one for text in ([globs] if isinstance(globs, str) else map(str, globs)) for one in _braces(text)]
    if all(re.fullmatch(r"\*[\w.-]+", one) for one in told):  # the end of a name means the same to both
        return f"glob(p, {json.dumps(told)})"
    parts = [re.sub(r"\*+", ".*", re.escape(one).replace(r"\*", "*").replace(r"\?", ".")) for one in told]
    if any("[" in one for one in told):
        raise NotTaken(f"the glob {one_line(', '.join(told), 100)} has no counterpart")
    return f"matches(p, {json.dumps(_pattern(f'^({chr(124).join(parts)})$'))})"


def _husky(root: str, done: Imported) -> Checks:
    for hook in ("pre-commit", "pre-push", "commit-msg", "prepare-commit-msg", "post-merge", "post-checkout"):
        text = (files.read(f"{root}/.husky/{hook}", _LIMIT) or b"").decode("utf-8", "replace")
        lines = [line.strip() for line in text.splitlines() if not re.match(r"\s*(#|$)|.*husky\.sh|.*\bahp\b", line)]
        if any(_LINT_STAGED.match(line) for line in lines):
            for globs, told in _lint_staged(root, done):
                yield f"lint-staged {globs}", _staged(globs, told)
        if rest := [line for line in lines if not _LINT_STAGED.match(line)]:
            yield f"husky {hook}", _script(hook, rest)


def _script(hook: str, lines: list[str]) -> Iterator[tuple[str, Any]]:
    if hook not in ("pre-commit", "pre-push"):
        raise NotTaken(f"it runs at {hook}")
    if any(re.search(r"\$[@*0-9]|\bread\b", line) for line in lines):
        raise NotTaken("it reads what git gives its hooks")
    path = "PATH=node_modules/.bin:$PATH"
    yield "fact", {"run": ["sh", "-e", "-c", "\n".join([path, *lines])]}
    yield "asked", {"at": hook}


def _lint_staged(root: str, done: Imported) -> Iterator[tuple[str, Any]]:
    """The files and commands of lint-staged, where its settings are data."""
    told = _mapping(_loaded(root, "package.json", needed=False)).get("lint-staged")
    for name in (".lintstagedrc", ".lintstagedrc.json", ".lintstagedrc.yaml", ".lintstagedrc.yml"):
        told = told or _loaded(root, name, needed=False)
    if not isinstance(told, dict):
        done.left["lint-staged"] = "its settings are a program, or lie elsewhere"
    yield from _mapping(told).items()


def _staged(globs: str, told: Any) -> Iterator[tuple[str, Any]]:
    commands = [told] if isinstance(told, str) else list(told) if isinstance(told, list) else []
    commands = [one for one in commands if one != "git add"]  # older versions wanted it; the rule stages by itself
    if not commands or not all(isinstance(one, str) for one in commands):
        raise NotTaken("its commands are no texts")
    run = "PATH=node_modules/.bin:$PATH; " + " && ".join(one + _NAMES for one in commands)
    matched = [f"glob(p, {json.dumps(list(_braces(str(globs))))})"]
    more = {"stage": True}
    named = f"lint-staged: {', '.join(commands)}"
    yield from _command({"at": "pre-commit"}, named, ["sh", "-c", run, "lint-staged"], matched, True, more=more)


def _braces(glob: str) -> Iterator[str]:
    """The globs without braces that stand for `glob`."""
    if glob.startswith("!") or re.search(r"[!@+*?]\(", glob):
        raise NotTaken(f"the glob {one_line(glob, 100)} has no counterpart")
    found = re.search(r"\{([^{}]*)\}", glob)
    if not found:
        yield glob
        return
    for one in found[1].split(","):
        yield from _braces(glob[: found.start()] + one + glob[found.end() :])


def _loaded(root: str, name: str, *, needed: bool = True) -> Any:
    data = files.read(f"{root}/{name}", _LIMIT)
    if data is None and needed:
        raise AhpError(f"there is no {name} here")
    return None if data is None else _yaml(data, name)


def _yaml(data: bytes, name: str) -> Any:
    try:
        return yaml.safe_load(data)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise AhpError(f"{one_line(name)} cannot be read: {one_line(str(error), 300)}") from None


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _mappings(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


MANAGERS = {"pre-commit": _pre_commit, "lefthook": _lefthook, "husky": _husky}
