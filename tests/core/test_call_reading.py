import json

import pytest

from tests.support.reply_reading import piece, read_calls, spec, told

A = '{"path":"a"}'


@pytest.mark.parametrize(
    "received",
    [
        "functions.read_file",
        "functions.read_file:0",
        "read_file<|channel|>commentary",
        "<|constrain|>read_file",
        " Read_File ",
        "read-file",
        "readFile",
        "`read_file`",
        "read_fileread_file",
        "default_api.read_file",
    ],
)
def test_a_name_is_found_under_what_templates_glue_to_it(received: str) -> None:
    reply = read_calls(piece(received, A, index=0, id="c"))
    assert told(reply) == [("read_file", {"path": "a"})]
    assert reply.calls[0].repaired


@pytest.mark.parametrize(
    "received", ["read", "open_pod_bay", "read_file\u200b", "re\u0430d_file", "", "read_file2"]
)
def test_any_other_name_is_unknown_and_the_model_is_told_the_real_ones(received: str) -> None:
    call = read_calls(piece(received, A, index=0, id="c")).calls[0]
    assert (call.status, call.name, call.arguments) == ("unknown_tool", received, None)
    assert "read_file" in call.problem


def test_the_closest_names_are_told_first() -> None:
    problem = read_calls(piece("list_files", A, index=0, id="c")).calls[0].problem
    assert problem.index("list_dir") < problem.index("get_time")


def test_two_tools_that_only_differ_in_case_are_not_mixed_up() -> None:
    tools = (spec("Run"), spec("run"))
    assert told(read_calls(piece("run", "{}", index=0, id="c"), tools=tools)) == [("run", {})]
    assert (
        read_calls(piece("RUN", "{}", index=0, id="c"), tools=tools).calls[0].status
        == "unknown_tool"
    )


def test_arguments_that_do_not_fit_are_explained_and_never_run() -> None:
    call = read_calls(piece("list_dir", '{"limit": "many"}', index=0, id="c")).calls[0]
    assert (call.status, call.arguments) == ("invalid", None)
    assert "path: is required" in call.problem
    assert "list_dir(path: string, limit?: integer)" in call.problem


def test_the_raw_text_of_the_model_is_kept() -> None:
    call = read_calls(piece("list_dir", '{"path": ".", "limit": "5",}', index=0, id="c")).calls[0]
    assert call.arguments == {"path": ".", "limit": 5}
    assert call.raw_arguments == '{"path": ".", "limit": "5",}'
    assert call.repaired


def test_glued_objects_are_calls_with_ids_of_their_own() -> None:
    reply = read_calls(piece("read_file", A + '{"path":"b"}', index=0, id="c"))
    assert told(reply) == [("read_file", {"path": "a"}), ("read_file", {"path": "b"})]
    assert reply.calls[0].id == "c"
    assert reply.calls[1].id not in ("", "c")
    assert all(call.repaired for call in reply.calls)


def test_the_wrapper_for_parallel_calls_is_opened() -> None:
    uses = json.dumps(
        {
            "tool_uses": [
                {"recipient_name": "functions.read_file", "parameters": {"path": "a"}},
                {"recipient_name": "nope"},
            ]
        }
    )
    reply = read_calls(piece("multi_tool_use.parallel", uses, index=0, id="c"))
    assert told(reply) == [("read_file", {"path": "a"}), ("nope", "unknown_tool")]


def test_a_cut_call_stops_all_calls_of_its_message() -> None:
    reply = read_calls(
        piece("read_file", A, index=0, id="c"), piece("read_file", '{"path":"b', index=1, id="d")
    )
    assert reply.outcome == "truncated"
    assert [(call.status, call.arguments) for call in reply.calls] == [("truncated", None)] * 2


def test_a_message_stopped_by_length_runs_nothing_even_where_it_parses() -> None:
    reply = read_calls(piece("read_file", A, index=0, id="c"), finish="length")
    assert reply.outcome == "truncated"
    assert reply.calls[0].status == "truncated"


def test_a_broken_call_does_not_stop_its_neighbours() -> None:
    reply = read_calls(
        piece("read_file", "[1]", index=0, id="c"), piece("read_file", A, index=1, id="d")
    )
    assert reply.outcome == "tool_calls"
    assert told(reply) == [("read_file", "invalid"), ("read_file", {"path": "a"})]
