import json
from typing import Any

import pytest

from core.chat.asked import AskedFor
from core.chat.failure import Failure, classify, next_step
from core.chat.failure_reading import HttpFailure, mask_keys, said_message
from core.errors import (
    ContextTooLongError,
    ModelOverloadedError,
    ModelRefusedError,
    ModelUnreachableError,
)
from core.provider import ProviderFlags, with_learned

PARAMETERS = frozenset(
    ("model", "messages", "stream", "max_tokens", "temperature", "top_p", "stream_options")
)


def judged(message: str, http: int = 400, *, asked: AskedFor | None = None, **more: Any) -> Failure:
    body = json.dumps({"error": {"message": message, **more}})
    return classify(HttpFailure(status=http, text=body), asked or AskedFor(parameters=PARAMETERS))


@pytest.mark.parametrize(
    ("message", "window"),
    [
        (
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
            8192,
        ),
        (
            "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens.",
            32768,
        ),
        (
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
            0,
        ),
        ("prompt is too long: 213462 tokens > 200000 maximum", 200000),
        ("input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000", 200000),
        (
            "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
            1048575,
        ),
        (
            "request (6030 tokens) exceeds the available context size (2048 tokens), try increasing it",
            2048,
        ),
        ("Trying to keep the first 9000 tokens when context the overflows.", 0),
        (
            "Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)",
            262144,
        ),
        ("Range of input length should be [1, 98304]", 98304),
        (
            "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
            32768,
        ),
        (
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
            131072,
        ),
        ("Input is too long for requested model.", 0),
        ("prompt token count of 201234 exceeds the limit of 128000", 128000),
        ("Input validation error: `inputs` must have less than 4095 tokens. Given: 5000", 4095),
        ("prompt too long; exceeded max context length by 4 tokens", 0),
        ("too many tokens: size limit exceeded by 1200 tokens", 0),
        ("输入的token长度超过了模型最大支持的长度", 0),
        ("Prompt 超长", 0),
        ("上下文超限", 0),
    ],
)
def test_an_overflow_is_known_in_every_wording_and_its_window_learned(
    message: str, window: int
) -> None:
    for status in (400, 413, 422, 500):
        found = judged(message, status)
        assert isinstance(found.error, ContextTooLongError)
        assert not found.may_pass
    assert judged(message).window == window


def test_a_code_in_an_overflow_message_is_not_taken_for_the_window() -> None:
    asked = AskedFor(estimated_tokens=200_000)
    assert judged("context window exceeds limit (2013)", asked=asked).window == 0


@pytest.mark.parametrize(
    ("message", "status", "more", "code"),
    [
        (
            "ThrottlingException: Too many tokens, please wait before trying again.",
            429,
            {},
            "rate_limited",
        ),
        (
            "Rate limit reached on tokens per min (TPM): Limit 30000, Requested 40000.",
            429,
            {},
            "rate_limited",
        ),
        (
            "You exceeded your current quota. Please retry in 34.5s.",
            429,
            {"status": "RESOURCE_EXHAUSTED"},
            "rate_limited",
        ),
        ("请求过于频繁", 429, {}, "rate_limited"),
        ("quota", 429, {}, "rate_limited"),
        ("Overloaded", 529, {"type": "overloaded_error"}, "server"),
        ("Loading model", 503, {}, "server"),
        ("", 502, {}, "server"),
        ("Request timed out", 408, {}, "server"),
    ],
)
def test_what_can_pass_is_tried_again(
    message: str, status: int, more: dict[str, Any], code: str
) -> None:
    found = judged(message, status, **more)
    assert isinstance(found.error, ModelOverloadedError)
    assert (found.error.code, found.may_pass, found.learn) == (code, True, None)


@pytest.mark.parametrize(
    ("message", "status", "more", "code"),
    [
        ("Insufficient credits.", 402, {}, "quota"),
        ("You exceeded your current quota", 429, {"code": "insufficient_quota"}, "quota"),
        ("账户余额不足", 429, {"code": "1113"}, "quota"),
        ("Your credit balance is too low to access the API.", 400, {}, "quota"),
        ("Incorrect API key provided", 401, {"code": "invalid_api_key"}, "auth"),
        ("Unauthorized", 401, {}, "auth"),
        ("Permission denied", 403, {}, "auth"),
        ("Invalid API key", 400, {}, "auth"),
        ('model "qwen3:99b" not found, try pulling it first', 404, {}, "model_not_found"),
        (
            "The model `gpt-9` does not exist or you do not have access to it.",
            404,
            {},
            "model_not_found",
        ),
        ("模型不存在", 400, {}, "model_not_found"),
        ("gemma:2b does not support tools", 400, {}, "tools_unsupported"),
        ("No endpoints found that support tool use", 404, {}, "tools_unsupported"),
        ("Failed to parse tool call arguments as JSON: parse error", 500, {}, "history_invalid"),
        (
            "An assistant message with 'tool_calls' must be followed by tool messages",
            400,
            {},
            "history_invalid",
        ),
        ("2 validation errors for Body", 500, {}, "bad_request"),
        (
            "max_tokens is too large: 100000. This model supports at most 16384 completion tokens",
            400,
            {},
            "bad_request",
        ),
        ("Something else", 400, {}, "bad_request"),
    ],
)
def test_what_cannot_pass_is_final(
    message: str, status: int, more: dict[str, Any], code: str
) -> None:
    found = judged(message, status, **more)
    assert isinstance(found.error, ModelRefusedError)
    assert (found.error.code, found.may_pass) == (code, False)


@pytest.mark.parametrize(
    ("message", "flag"),
    [
        ("Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
         ("max_tokens_field", "max_completion_tokens")),
        ("Unrecognized request argument supplied: max_completion_tokens", ("max_tokens_field", "max_tokens")),
        ("Unsupported value: 'temperature' does not support 0.2 with this model.", ("temperature", "omit")),
        ("Unknown parameter: 'stream_options'.", ("stream_usage", "false")),
        ("Unsupported parameter: 'parallel_tool_calls'", ("parallel_calls", "false")),
        ("The tool_choice parameter does not support being set to required in thinking mode", ("tool_choice", "omit")),
        ("Unknown name \"strict\" at 'tools[0].function': Cannot find field.", ("strict", "false")),
        ("messages[0].role: unknown variant `developer`", ("developer_role", "false")),
        ("'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': 'Input should be'",
         ("response_format", "json_object")),
        ("top_p is not supported with this model.", ("omit.top_p", "true")),
    ],
)  # fmt: skip
def test_a_refused_parameter_is_learned_once(message: str, flag: tuple[str, str]) -> None:
    assert judged(message).learn == flag
    again = judged(message, asked=AskedFor(parameters=PARAMETERS, learned={flag[0]: flag[1]}))
    assert again.learn in (None, ("response_format", "omit"))
    omitted = AskedFor(parameters=PARAMETERS, learned={flag[0]: "omit" if again.learn else flag[1]})
    assert judged(message, asked=omitted).learn != again.learn or again.learn is None


@pytest.mark.parametrize(
    "message",
    ["Invalid value for 'max_tokens': must be at most 4096", "temperature must be below 2"],
)
def test_a_wrong_value_is_no_reason_to_leave_the_parameter_out(message: str) -> None:
    assert judged(message).learn is None


def test_pictures_are_only_given_up_when_some_were_sent() -> None:
    message = "image input is not supported - hint: you may need to provide the mmproj"
    assert judged(message, 500, asked=AskedFor(has_images=True)).learn == ("vision", "false")
    assert judged(message, 500).learn is None


def test_html_is_told_by_its_title_and_never_shown() -> None:
    page = (
        "<!DOCTYPE html><html><head><title>502 Bad\n Gateway</title></head><body>"
        + "<div>x</div>" * 500
    )
    found = classify(HttpFailure(status=502, text=page), AskedFor())
    assert found.may_pass
    assert "502 Bad Gateway" in found.error.message
    assert "<div>" not in found.error.line()
    login = classify(
        HttpFailure(status=403, text="<html><title>Sign in</title></html>"), AskedFor()
    )
    assert isinstance(login.error, ModelUnreachableError)
    assert "base_url" in login.error.message


@pytest.mark.parametrize("text", ['{"detail": "Not Found"}', "404 page not found", ""])
def test_an_unknown_path_is_a_wrong_address(text: str) -> None:
    found = classify(HttpFailure(status=404, text=text), AskedFor())
    assert found.error.code == "bad_endpoint"


def test_a_refusal_without_a_word_is_suspected_only_near_the_end_of_the_window() -> None:
    empty = HttpFailure(status=400)
    near = classify(empty, AskedFor(estimated_tokens=7400, window=8192)).error
    far = classify(empty, AskedFor(estimated_tokens=900, window=8192)).error
    unknown = classify(empty, AskedFor(estimated_tokens=7400)).error
    assert (near.code, far.code, unknown.code) == (
        "context_overflow_suspected",
        "bad_request",
        "bad_request",
    )


def test_a_wait_of_an_hour_is_not_slept_through() -> None:
    failure = HttpFailure(
        status=429, headers={"retry-after": "3600"}, text='{"error": {"message": "quota"}}'
    )
    found = classify(failure, AskedFor())
    assert not found.may_pass
    assert found.error.code == "rate_limited"
    assert "60 min" in found.error.message


def test_an_error_object_with_status_200_is_judged_by_the_status_inside_it() -> None:
    found = classify(
        HttpFailure(status=200, text='{"message": "Provider returned error", "code": 524}'),
        AskedFor(),
    )
    assert found.may_pass
    inner = classify(
        HttpFailure(status=200, text='{"message": "No auth credentials found", "code": 401}'),
        AskedFor(),
    )
    assert inner.error.code == "auth"


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-abc***xyz.",
        "key sk-abc is wrong",
        "bad key sk-proj-0123456789abcdef",
        "Bearer abc.def is refused",
        "AIzaSyA0123456789abcdefg is refused",
        "my-own-secret is refused",
        "0123456789abcdef0123456789abcdef is refused",
    ],
)
def test_keys_never_reach_a_message(text: str) -> None:
    shown = mask_keys(text, "my-own-secret")
    assert "***" in shown
    for secret in ("sk-abc", "sk-proj", "abc.def", "AIza", "my-own", "0123456789abcdef"):
        assert secret not in shown


def test_ordinary_words_are_not_taken_for_keys() -> None:
    text = "Rate limit reached for gpt-4o in the organization: keyboard, hf, or organisation-wide risk-averse"
    assert mask_keys(text) == text


def test_a_message_is_one_short_printable_line() -> None:
    said = said_message(
        HttpFailure(
            status=500, text=json.dumps({"error": {"message": "a\n\x1b[31mb\t" + "c" * 900}})
        )
    )
    assert "\n" not in said
    assert "\x1b" not in said
    assert len(said) <= 150
    assert said.startswith("a [31mb")


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "null",
        "5",
        '"x"',
        '{"error": null}',
        '{"error": []}',
        "{",
        '[{"error": {"message": "m"}}]',
    ],
)
def test_any_body_at_all_can_be_judged(text: str) -> None:
    assert classify(HttpFailure(status=400, text=text), AskedFor()).error.code == "bad_request"


def test_what_may_help_is_known_for_each_end() -> None:
    assert next_step("context_too_long") == "compact_and_retry_once"
    assert next_step("payload_too_large") == "drop_images_then_compact"
    assert next_step("auth") == ""


@pytest.mark.parametrize(
    ("message", "flag"),
    [
        ("Unexpected role 'user' after role 'tool'", ("bridge_assistant_after_tool", "true")),
        ("Conversation roles must alternate user/assistant/user", ("merge_same_role", "true")),
        (
            "Tool call id was call_1 but must be a-z, 0-9, with a length of 9.",
            ("tool_id", "alnum9"),
        ),
        (
            "The reasoning_content in the thinking mode must be passed back to the API.",
            ("echo_reasoning", "reasoning_content"),
        ),
        (
            "Unknown name \"additionalProperties\" at 'tools[0]': Cannot find field.",
            ("schema", "openapi_subset"),
        ),
    ],
)
def test_the_ways_of_a_server_behind_a_gateway_are_learned(
    message: str, flag: tuple[str, str]
) -> None:
    assert judged(message).learn == flag
    assert with_learned(ProviderFlags(), dict([flag])) != ProviderFlags()
    again = judged(message, asked=AskedFor(learned=dict([flag])))
    assert again.learn is None
    assert isinstance(again.error, ModelRefusedError)


def test_a_parameter_named_beside_the_message_is_found() -> None:
    found = judged("Unsupported parameter.", param="temperature", code="unsupported_parameter")
    assert found.learn == ("temperature", "omit")


def test_words_of_the_request_that_the_server_repeats_are_not_its_own() -> None:
    detail = [
        {
            "loc": ["body", "stream_options"],
            "msg": "Extra inputs are not permitted",
            "input": {"messages": "rate limit, context length exceeded, invalid api key"},
        }
    ]
    failure = HttpFailure(status=422, text=json.dumps({"detail": detail}))
    assert classify(failure, AskedFor(parameters=PARAMETERS)).learn == ("stream_usage", "false")


def test_what_an_upstream_server_said_is_read_inside_the_answer_of_a_gateway() -> None:
    error = {
        "message": "Provider returned error",
        "code": 400,
        "metadata": {"raw": "prompt is too long: 213462 tokens > 200000 maximum"},
    }
    found = classify(HttpFailure(status=400, text=json.dumps({"error": error})), AskedFor())
    assert isinstance(found.error, ContextTooLongError)
    assert found.window == 200000
