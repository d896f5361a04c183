"""Compares what came of a case with what it expects."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.conformance.wire_requests import judge_request

Result = Mapping[str, Any]
GENERATED = "*generated*"
_EQUAL = (
    "outcome",
    "text",
    "reasoning",
    "error",
    "reason",
    "requests",
    "partial_text",
    "carry",
    "next",
    "learned_window",
)


def judge(case: Mapping[str, Any], result: Result) -> list[str]:
    """Return what is wrong with a result, nothing when the case passes."""
    wrong: list[str] = []
    for name, wanted in case["expect"].items():
        if name in _EQUAL:
            if result[name] != wanted:
                wrong.append(f"{name}: {result[name]!r}, not {wanted!r}")
        elif name in _OTHERS:
            wrong += _OTHERS[name](result, wanted)
        else:
            wrong.append(f"unknown expectation {name}")
    return wrong


def _said(wrong: bool, name: str, got: object) -> list[str]:
    return [f"{name}: {got!r}"] if wrong else []


def _calls(result: Result, wanted: Sequence[Mapping[str, Any]]) -> list[str]:
    got = result["tool_calls"]
    if len(got) != len(wanted):
        return [f"tool_calls: {len(got)} instead of {len(wanted)}: {got!r}"]
    return [
        problem for call, want in zip(got, wanted, strict=True) for problem in _call(call, want)
    ]


def _call(got: Mapping[str, Any], want: Mapping[str, Any]) -> list[str]:
    wrong = []
    for key, value in {"source": "native", **want}.items():
        if key == "arguments" and want["status"] != "ok":
            value = None
        if key == "id" and value == GENERATED:
            if not got["id"]:
                wrong.append("no id was generated")
        elif got[key] != value or type(got[key]) is not type(value):
            wrong.append(f"{want['name']}.{key}: {got[key]!r}, not {value!r}")
    return wrong


def _usage(result: Result, wanted: Mapping[str, Any]) -> list[str]:
    got = result["usage"]
    wrong = []
    for key, value in wanted.items():
        if got[key] != value:
            wrong.append(f"usage.{key}: {got[key]!r}, not {value!r}")
        if key.endswith("_estimated") and not got[key.removesuffix("_estimated")] > 0:
            wrong.append(f"usage.{key}: the estimate is not above 0")
    return wrong


def _unique(result: Result, wanted: object) -> list[str]:
    ids = [call["id"] for call in result["tool_calls"]]
    return _said((len(set(ids)) == len(ids)) is not wanted, "unique_ids", ids)


def _contains(name: str) -> Callable[[Result, Any], list[str]]:
    return lambda result, wanted: _said(
        wanted not in result[name], f"{name} lacks {wanted!r}", result[name]
    )


def _holds_all(name: str) -> Callable[[Result, Any], list[str]]:
    return lambda result, wanted: _said(
        not set(wanted) <= set(result[name]), f"{name} lacks {wanted!r}", result[name]
    )


def _waited(result: Result, least_s: float) -> list[str]:
    got = (result["waited_s"], result["took_s"])
    return _said(min(got) < least_s, "min_wait_s", got)


_OTHERS: dict[str, Callable[[Result, Any], list[str]]] = {
    "text_contains": _contains("text"),
    "tool_calls": _calls,
    "unique_ids": _unique,
    "usage": _usage,
    "message_contains": _contains("message"),
    "message_not_contains": lambda result, words: _said(
        words in result["message"], "message", result["message"]
    ),
    "message_max_chars": lambda result, most: _said(
        len(result["message"]) > most, "message", result["message"]
    ),
    "warnings": _holds_all("warnings"),
    "remembered": _holds_all("remembered"),
    "min_wait_s": _waited,
    "within_s": lambda result, most: _said(result["took_s"] > most, "took_s", result["took_s"]),
    "max_executions": lambda result, most: _said(
        result["executions"] > most, "executions", result["executions"]
    ),
    "request": lambda result, wanted: judge_request(result["request"], wanted, result),
    "second_request": lambda result, wanted: judge_request(
        result["second_request"], wanted, result
    ),
}
