"""Seed 001 §6, the acceptance list of scene isolation: each test names the line it covers."""

from __future__ import annotations

import json

import pytest

from ahp.runner.config import AgentConfig
from ahp.runner.scripted import Scripted, scripted_tool
from ahp.runner.words.replies import is_protocol_content
from tests.runner.runs import DONE, Scene

CALL = json.dumps({"tool": "get_weather", "args": {"city": "北京"}}, ensure_ascii=False)


def weather(*answers: Scripted) -> Scene:
    tool = scripted_tool("get_weather", ["晴，5 度"], description="今天的天气")
    return Scene(answers, tools=[tool], task="获取今天北京的天气")


def test_line_1_the_model_calls_the_tool_or_answers_in_words() -> None:
    """模型应输出工具调用 JSON {"tool":"get_weather",...} 或自然语言。"""
    scene = weather(CALL, "今天北京晴，5 度。")
    assert scene.of("tool_call")[0]["args"] == {"city": "北京"}
    assert scene.turn.answer == "今天北京晴，5 度。"
    assert weather("今天北京晴。").turn.answer == "今天北京晴。"


@pytest.mark.parametrize(
    "leak", [DONE, f"{DONE}\n\n{DONE}", f"```json\n{DONE}\n```", '{"control":"step_do', "STEP_DONE"]
)
def test_line_2_control_json_is_never_the_final_answer(leak: str) -> None:
    """不再出现把 {"control":"step_done"} 当最终回复输出给用户。"""
    for scene in (weather(CALL, leak, "今天北京晴。"), weather(CALL, *[leak] * 25)):
        assert "control" not in scene.turn.answer
        assert "STEP_DONE" not in scene.turn.answer


def test_line_3_the_guard_asks_for_plain_words_within_the_iteration_limit() -> None:
    """即便模型偶发输出控制 JSON，ReAct 护栏会拦截并要求它重新自然语言回答。"""
    scene = weather(CALL, f"{DONE}\n\n{DONE}", "今天北京晴。")
    assert (scene.turn.answer, scene.turn.stop_reason) == ("今天北京晴。", "DONE")
    assert "plain words" in scene.said[2]
    endless = weather(CALL, *[DONE] * 25)
    assert (endless.turn.stop_reason, endless.turn.requests) == ("MAX_ITER", 20)


def test_line_4_max_tokens_in_the_events_is_1024_or_what_was_set() -> None:
    """max_tokens 日志应显示为 1024（或用户配置值）。"""
    assert {event["max_tokens"] for event in weather(CALL, "晴").of("model_request")} == {1024}
    assert Scene(["a"], max_tokens=512).of("model_request")[0]["max_tokens"] == 512


def test_section_4_1_neither_protocol_nor_schemas_stand_in_the_prompts_of_a_turn_without_plan() -> None:
    """全局提示词“去强制化”（场景隔离）；schema 注入默认关闭。"""
    for request in weather(CALL, DONE, "晴").model.requests:
        said = [message["content"] for message in request.messages if message["role"] != "assistant"]
        assert not any("step_done" in text or "replan" in text or '"properties"' in text for text in said)


def test_section_5_no_setting_has_a_secret_as_its_default() -> None:
    """敏感信息默认值治理。"""
    assert not [name for name in AgentConfig.model_fields if "key" in name]


def test_json_that_was_asked_for_is_an_answer() -> None:
    asked_for = '{"city": "北京", "temperature": 5}'
    assert weather(CALL, asked_for).turn.answer == asked_for
    assert not is_protocol_content(asked_for)
