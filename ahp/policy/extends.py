"""The files of a policy in the order they apply: each after what it extends (design §4)."""

import os
import re
from dataclasses import dataclass, field

from ahp.policy import shape, sources, vendored
from ahp.policy.models import SharedKeys
from ahp.policy.problems import Place, PolicyError, Problem, nearest, quoted
from ahp.policy.shape import RawFile
from ahp.system.digest import tagged
from ahp.system.errors import AhpError

MAX_FILES = 64
# Packs by names that people know from elsewhere.
_KNOWN_AS = {
    **dict.fromkeys(("javascript", "typescript", "js", "ts", "nodejs", "npm", "react"), "node"),
    **dict.fromkeys(("golang",), "go"),
    **dict.fromkeys(("cargo",), "rust"),
    **dict.fromkeys(("py", "python3"), "python"),
    **dict.fromkeys(("maven", "gradle"), "java"),
    **dict.fromkeys(("default", "base", "recommended", "secrets"), "core"),
    **dict.fromkeys(("commitlint", "conventional"), "conventional-commits"),
}
_PACK = re.compile(r"[a-z0-9][a-z0-9\-]*\Z")


def read_all(source: sources.PolicySource) -> list[RawFile]:
    """Every file of the policy, extended ones before those that extend them; layers in the order of `source`.

    A pack that was already read is not read again: naming it in a second layer adds nothing.
    Raises PolicyError with the problems of all files together.
    """
    reading = _Reading(source)
    for layer, name, data in source.layers():
        reading.layer = layer
        reading.file(data, name, layer, (name,))
    if reading.problems:
        raise PolicyError([*reading.problems, *[problem for raw in reading.files for problem in raw.problems]])
    return reading.files


@dataclass
class _Reading:
    source: sources.PolicySource
    layer: str = ""
    files: list[RawFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    done: set[str] = field(default_factory=set)

    def file(self, data: bytes, name: str, layer: str, chain: tuple[str, ...]) -> None:
        try:
            raw = shape.read(data, name, layer)
        except PolicyError as error:
            self.problems += error.problems
            for wanted, place in shape.extended(data, name):
                self.extend(wanted, place, chain)  # their errors belong into the same list
            return
        for index, listed in enumerate(raw.model.extends):
            self.extend(listed, raw.place("extends", index), chain)
        self.files.append(raw)

    def extend(self, wanted: str | SharedKeys, place: Place, chain: tuple[str, ...]) -> None:
        if isinstance(wanted, SharedKeys):
            self.shared(wanted, place, chain)
            return
        is_pack = bool(_PACK.match(wanted))
        known = wanted if is_pack else f"{self.layer}:{wanted}"
        if known in chain:
            way = " → ".join((*chain[chain.index(known) :], known))
            self.problems.append(Problem(place, f"a circle of `extends`: {way}"))
        elif len(self.done) >= MAX_FILES:
            self.problems.append(Problem(place, f"more than {MAX_FILES} files are extended"))
        elif known not in self.done:
            self.done.add(known)
            if is_pack:
                self.pack(wanted, place, (*chain, known))
            else:
                self.beside(wanted, place, (*chain, known))

    def shared(self, wanted: SharedKeys, place: Place, chain: tuple[str, ...]) -> None:
        known = f"{vendored.SHARED} {wanted.called}"
        if self.layer != "project" or len(chain) > 1:
            what = "only the project's .ahp/hooks.yaml itself extends a policy of another repository"
            self.problems.append(Problem(place, what))
        elif known in self.done:
            what = f"two shared policies are called {quoted(wanted.called)}; give one of them a `name:`"
            self.problems.append(Problem(place, what))
        else:
            self.done.add(known)
            try:
                data = vendored.text_of(wanted, lambda path: self.source.beside(self.layer, path))
            except AhpError as error:
                self.problems.append(Problem(place, str(error)))
                return
            name = os.path.join(os.path.dirname(chain[0]), vendored.place(wanted.called, wanted.path))
            self.file(data, name, f"pack {wanted.called}", (*chain, known))

    def pack(self, wanted: str, place: Place, chain: tuple[str, ...]) -> None:
        found = sources.pack(wanted)
        if found is None:
            meant = (
                f"; did you mean `{_KNOWN_AS[wanted]}`?" if wanted in _KNOWN_AS else nearest(wanted, sources.packs())
            )
            what = f"no pack is called {quoted(wanted)}{meant}"
            self.problems.append(Problem(place, what if what.endswith("?") else f"{what}; a file ends in .yaml"))
            return
        path, data = found
        self.source.watched.append((path, tagged(data)))
        self.file(data, f"pack {wanted}", f"pack {wanted}", chain)

    def beside(self, wanted: str, place: Place, chain: tuple[str, ...]) -> None:
        if chain[-2].startswith(vendored.SHARED):
            what = f"a policy of another repository extends packs only, and not {quoted(wanted)}"
            self.problems.append(Problem(place, what))
            return
        parts = wanted.split("/")
        if (
            not wanted.endswith((".yaml", ".yml"))
            or any(part in ("", ".", "..") for part in parts)
            or not wanted.isprintable()
        ):
            what = f"{quoted(wanted)} is neither a pack nor a .yaml file inside this policy's folder"
            self.problems.append(Problem(place, what))
            return
        try:
            data = self.source.beside(self.layer, wanted)
        except PolicyError as error:
            self.problems += error.problems
            return
        except AhpError as error:
            self.problems.append(Problem(place, str(error)))
            return
        if data is None:
            self.problems.append(Problem(place, f"there is no file {quoted(wanted)} beside this policy"))
        else:
            self.file(data, os.path.join(os.path.dirname(chain[0]), wanted), self.layer, chain)
