"""What reply each scene wants."""

from typing import Any

from pydantic import BaseModel

from ahp.runner.run.session import wants
from ahp.runner.tools.tool import FunctionTool
from ahp.runner.words.plan import parse_plan_from_text
from tests.runner.runs import Scene, call


class Inner(BaseModel):
    text: str
    below: "list[Inner]" = []


class Args(BaseModel):
    path: str
    edits: list[Inner] = []


TOOL = FunctionTool("mend", "mends\n a file", Args, lambda args, context: "", kind="edit")


def test_every_scene_says_what_it_wants() -> None:
    scene = Scene([call(), "answer"])
    given = [request.want for request in scene.model.requests]
    assert [want.kind for want in given if want] == ["action", "action"]
    wanted = wants([TOOL])
    assert [wanted[name].kind for name in ("planning", "step", "react", "answer")] == [
        "plan",
        "action",
        "action",
        "words",
    ]
    assert [bool(wanted[name].tools) for name in ("planning", "step", "react", "answer")] == [
        False,
        True,
        True,
        True,
    ]
    assert [[tool.name for tool in wanted[name].tools] for name in ("step", "react", "answer")] == [
        ["mend", "control"],
        ["mend", "final_answer"],
        ["final_answer"],
    ]
    assert wanted["react"].schema is None  # its answer is words


def test_a_step_is_held_to_calls_and_control() -> None:
    want = wants([TOOL])["step"]
    assert (want.tools[0].name, want.tools[0].description) == ("mend", "mends a file")
    assert want.schema is not None
    forms: list[dict[str, Any]] = list(want.schema["anyOf"])
    assert [next(iter(form["properties"].values())).get("const") for form in forms] == [
        "mend",
        "step_done",
        "step_done",
        "replan",
        None,
    ]
    args = forms[0]["properties"]["args"]
    assert "$ref" not in str(forms) and "$defs" not in str(forms)
    # What refers to itself is cut where it begins anew.
    assert args["properties"]["edits"]["items"]["properties"]["below"]["items"] == {}


def test_a_plan_of_the_wanted_form_can_be_carried_out() -> None:
    schema = wants([])["planning"].schema
    assert schema is not None and schema["required"] == ["title", "steps", "verification_policy"]
    step = schema["properties"]["steps"]["items"]
    assert sorted(step["properties"]) == ["dependencies", "description", "id", "tools_expected"]
    parse_plan_from_text(
        '{"title": "t", "verification_policy": "auto",'
        ' "steps": [{"id": "a", "description": "b", "dependencies": [], "tools_expected": []}]}'
    )
