"""Checked policy to programs, one a trigger (design §2, §4)."""

import os
from collections.abc import Iterable, Iterator
from typing import Any

from ahp.conditions.typecheck import Checked
from ahp.facts import registry
from ahp.facts.registry import Command, Extract, Reports, Settings
from ahp.policy import cache, control, layers, models
from ahp.policy import tree as trees
from ahp.policy.problems import PolicyError, Problem
from ahp.policy.program import Action, Answers, Escalation, Finding, Program, RuleAnswer, RulePlan, Suggestion
from ahp.policy.rule import Policy, Rule, box_of, rule_digest
from ahp.policy.sources import FileSource, TreeSource, Watched
from ahp.policy.tree import PolicyTree
from ahp.protocol.triggers import TRIGGERS
from ahp.system import files, jsontext, patience
from ahp.system.digest import sha256, tagged
from ahp.system.errors import AhpError
from ahp.system.git import Repository


def build(root: str, folder: str, user: str = "") -> tuple[Policy, dict[str, Program]]:
    """The checked policy of the work tree at `root` and its programs by trigger, which are stored in `folder`.

    Without rules they are so only in a folder that is there. Raises PolicyError.
    """
    patience.doing = "compiling the policy"
    source = FileSource(root, user)
    policy = layers.load(source)
    made = programs(policy, source.watched)
    if not policy.rules and not os.path.isdir(folder):  # whoever only asks is left no folder
        return policy, made
    return policy, _stored(cache.place(root, folder, source.contents), made)


def committed(tree: PolicyTree, folder: str) -> dict[str, Program]:
    """The programs of the policy that a tree has, by trigger, which are stored in `folder`. Raises PolicyError."""
    source = TreeSource(tree)
    policy = layers.load(source)
    return _stored(cache.committed_place(tree, folder), programs(policy, source.watched))


def programs(policy: Policy, watched: Iterable[Watched] = ()) -> dict[str, Program]:
    """A program for every trigger, in memory; `watched` are the files they depend on."""
    settings = _settings(policy)
    rules = {trigger: policy.at(trigger) for trigger in TRIGGERS}
    made = {trigger: _program(policy, trigger, rules[trigger], settings) for trigger in TRIGGERS}
    digest = tagged(jsontext.encode([[one, one.answers] for one in made.values()]).encode())
    # With another text of a namespace that a package adds, the policy is compiled anew.
    added = [str(registry.module(name).__file__) for name in settings.namespaces]
    sources = {**dict(watched), **{path: tagged(files.read(path) or b"") for path in added}}
    # The rest says where the policy was read, which is no part of what it means.
    for trigger, one in made.items():
        assert one.answers is not None
        one.policy = one.answers.policy = digest
        one.sources = list(sources.items())
        one.triggers = [name for name in TRIGGERS if rules[name]]
        for rule in rules[trigger]:
            one.answers.rules[rule.key].position = str(rule.raw.where("condition"))
    return made


def _settings(policy: Policy) -> Settings:
    raw = policy.raw
    read = {path.partition(".")[0] for rule in policy.rules for path in rule.reads} - raw.facts.keys()
    reports = {name: raw.report(name) for name in Reports.fields}
    return Settings(
        limits=policy.limits(),
        env_allow=list(policy.env_names),
        timezone=raw.setting("timezone") or "",
        reports=Reports(**reports),
        commands={name: _command(field.value) for name, field in raw.facts.items()},
        environment=[(name, checked.plan) for name, checked in policy.environment],
        namespaces={name: place for name, place in registry.places().items() if name in read},
    )


def _program(policy: Policy, trigger: str, rules: list[Rule], settings: Settings) -> Program:
    """Without what says where it was read, and without the digest of the whole."""
    whens: list[Checked] = []
    plans = []
    at_a_call = TRIGGERS[trigger].family == "tool-use"
    late = {name for name, one in registry.declared().items() if one.late or (one.costly and at_a_call)}
    late |= policy.raw.facts.keys()
    for rule in rules if policy.raw.setting("mode") != "observe" else [one for one in rules if not one.is_boxing]:
        if rule.is_boxing and rule.shadow:
            continue
        index = -1
        if rule.when is not None:
            index = next((i for i, known in enumerate(whens) if known.plan == rule.when.plan), len(whens))
            whens += [rule.when] if index == len(whens) else []
        plans.append(
            RulePlan(
                key=rule.key,
                plan=rule.condition.plan,
                var=rule.each.var if rule.each is not None else "",
                items=rule.each.plan if rule.each is not None else None,
                when=index,
                costly=bool(late & {path.partition(".")[0] for path in rule.reads}),
                skips=_skips(policy, rule),
                box={
                    "type": rule.raw.get("action").type,
                    "keys": box_of(rule, policy.raw),
                    "otherwise": rule.otherwise,
                    "reads": sorted(rule.reads),
                }
                if rule.is_boxing
                else None,
            )
        )
    slots = sorted({path for rule in rules for path in rule.reads})
    reads = registry.by_namespace(slots)
    made = Program(
        trigger=trigger,
        policy="",
        triggers=[],
        sources=[],
        settings=settings,
        slots=slots,
        reads=reads,
        whens=[checked.plan for checked in whens],
        rules=plans,
        costly=sorted(late & reads.keys()),
        stages=any(getattr(rule.raw.get("action"), "stage", False) for rule in rules),
        box=policy.raw.setting("box").model_dump(),
    )
    made.answers = _answers(policy, trigger, rules)
    return made


def _skips(policy: Policy, rule: Rule) -> bool:
    """Whether the rule says nothing, at any level and in any mode, where evidence is missing."""
    asks = rule.on_missing != "skip" and not TRIGGERS[rule.trigger].post
    return not asks and "allow" not in rule.intensity.values() and policy.raw.setting("mode") != "observe"


def _answers(policy: Policy, trigger: str, rules: list[Rule]) -> Answers:
    escalation = policy.raw.setting("escalation")
    return Answers(
        trigger=trigger,
        policy="",
        mode=policy.raw.setting("mode"),
        escalation=None if escalation is None else Escalation(**escalation.model_dump()),
        authority=list(policy.raw.setting("authority")),
        software_keys=policy.raw.setting("software_keys"),
        rules={rule.key: _answer(policy, rule) for rule in rules},
    )


_GIVEN = [name for name in RuleAnswer.fields if name in models.RuleKeys.model_fields]
_OWN = [name for name in RuleAnswer.fields if hasattr(Rule, name)]


def _answer(policy: Policy, rule: Rule) -> RuleAnswer:
    raw, each = rule.raw, rule.each
    action, finding, reversible = raw.get("action"), raw.get("finding"), raw.get("reversible")
    given = {name: raw.get(name) for name in _GIVEN}
    own = {name: getattr(rule, name) for name in _OWN}
    made: dict[str, Any] = {
        **given,
        **own,  # as the rule has them: with its defaults
        "id": raw.id,
        "oracle": raw.oracle,
        "suggestions": [Suggestion(type=one.type, description=one.description) for one in given["suggestions"]],
        "reversible": (action is None or action.type != "run") if reversible is None else reversible,
        "action": None if action is None else _action(action),
        "refines": policy.refines.get((rule.trigger, rule.key), {}),
        "finding": None if finding is None else _placed(finding, rule),
        "condition": rule.condition.text,
        "each": each.text if each is not None else None,
        "when": rule.when.text if rule.when is not None else None,
        "reads": sorted(rule.reads),
        "shows": sorted(rule.shows),
        "position": "",
        "digest": rule_digest(rule, policy),
    }
    return RuleAnswer(**made)


def _placed(finding: models.FindingKeys, rule: Rule) -> Finding:
    var = rule.each.var if rule.each is not None else ""
    kinds = [] if finding.message is not None else list(_kinds(rule.condition.plan, var))
    return Finding(file=finding.file, line=finding.line, message=finding.message, kinds=kinds)


def _kinds(plan: Any, var: str) -> Iterator[list[str]]:
    """`[field, regex]` of each regex with named groups that an item can be found by."""
    name, *operands = plan
    if name in ("and", "or"):
        for one in operands:
            yield from _kinds(one, var)
    elif name == "matches" and operands[0] in (["item", var], ["field", ["item", var], operands[0][-1]]):
        field = operands[0][-1] if operands[0][0] == "field" else ""
        patterns = operands[1][1] if operands[1][0] == "const" else operands[2]
        for pattern in patterns if isinstance(patterns, list) else [patterns]:
            if "(?P<" in pattern:
                yield [field, pattern]


def _action(model: Any) -> Action:
    """From one of the models of `control`, which differ in their keys."""
    given: dict[str, Any] = {name: getattr(model, name, None) for name in Action.fields}
    given["command"] = _command(model) if model.type == "run" else None
    given["more"] = (
        None if isinstance(model, control.OWN) else model.model_dump(exclude={"type", "target"}, mode="json")
    )
    return Action(**given)


def _command(model: models.Command | control.RunAction) -> Command:
    """What a fact or a fixer runs."""
    given: dict[str, Any] = {name: getattr(model, name, None) for name in Command.fields}
    if isinstance(model, control.RunAction):
        given |= {"run": model.command, "when_changed": []}
    else:
        given["extract"] = {name: Extract(value=one.value, type=one.type) for name, one in model.extract.items()}
    return Command(**given)


def commands(policy: Policy) -> dict[str, Command]:
    """Every command that the policy may run, by a name for people: `facts.NAME`, `rule KEY`."""
    found = {f"facts.{name}": _command(field.value) for name, field in policy.raw.facts.items()}
    for rule in policy.rules:
        action = rule.raw.get("action")
        if action is not None and action.type == "run":
            found[f"rule {rule.key}"] = _command(action)
    return found


KEPT = 48  # compiled policies of all work trees of a repository: two for each, at several commits


def _stored(home: str, made: dict[str, Program]) -> dict[str, Program]:
    """Stores the programs of one policy in the folder `home`, each file atomically, where that can be.

    A gate that cannot cache still judges, only slower: a read-only git directory is no reason to refuse.
    """
    try:
        files.make_dirs(home)
        for program in made.values():
            _write(f"{home}/{program.trigger}.answers", program.answers)
            _write(f"{home}/{program.trigger}", program)
    except AhpError:
        return made
    prune(os.path.dirname(home))
    for trigger, one in made.items():
        one.path = f"{home}/{trigger}"
    return made


def _write(path: str, data: object) -> None:
    content = jsontext.encode(data).encode()
    files.replace(path, sha256(content).encode() + b"\n" + content)


def prune(folder: str) -> None:
    """Removes all but the newest compiled policies."""
    try:
        homes = [name for name in os.listdir(folder) if len(name) == 32]  # what is known of reports lies beside them
        homes.sort(key=lambda name: os.stat(os.path.join(folder, name)).st_mtime_ns, reverse=True)
    except OSError:
        return  # another process removes some at this moment
    if len(homes) > KEPT:
        import shutil  # which loads three ways to compress
    for name in homes[KEPT:]:
        shutil.rmtree(os.path.join(folder, name), ignore_errors=True)


def check(repo: Repository, folder: str) -> None:
    """Raises PolicyError for a staged policy that is a link or does not load; GitError.

    It is compiled for the next event, which it may judge. `folder` is the repository's ahp folder.
    """
    tree = trees.of_index(repo)
    if not tree.has_policy or cache.find_committed(tree, folder, "pre-commit"):
        return
    try:
        committed(tree, folder)
    except PolicyError as error:
        why = "this is staged, and a commit may not bring a policy that does not load"
        first, *others = error.problems
        raise PolicyError([Problem(first.place, f"{first.what}; {why}", first.mended), *others]) from None
