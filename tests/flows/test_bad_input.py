"""Whatever is wrong with what it is given, Handrail says one clear line and ends with the right exit code."""

import socket
from pathlib import Path

import pytest

from tests.support.command_line import Done, run_handrail
from tests.support.model_server import ModelServerThread, http_error, text

NO_ENGINE = {"DOCKER_HOST": "unix:///nothing/there.sock"}


def run(workspace: Path, *words: str, **environment: str) -> Done:
    return run_handrail(
        "run", "say hello", "--json", *words, folder=workspace, environment=environment
    )


def served(server: ModelServerThread, model: str = "scripted") -> tuple[str, ...]:
    return ("--base-url", server.base_url, "--model", model, "--no-browser")


def error_of(done: Done) -> tuple[str, str]:
    """Return code and line of the error, which stderr repeats."""
    error = done.ended["error"]
    assert error["message"] in done.stderr
    return error["code"], f"{error['message']} {error['hint']}"


def test_without_a_model_it_says_what_to_set(workspace: Path) -> None:
    done = run(workspace)
    code, line = error_of(done)
    assert (done.code, code) == (2, "no_model")
    assert "HANDRAIL_MODEL" in line
    assert "HANDRAIL_MODEL" in done.one_line


def test_without_a_key_it_says_which_variable(workspace: Path) -> None:
    done = run(workspace, "--model", "gpt-x")
    code, line = error_of(done)
    assert (done.code, code) == (2, "no_key")
    assert "OPENAI_API_KEY" in line
    assert "OPENAI_API_KEY" in done.one_line


def test_a_refused_key_is_not_repeated(workspace: Path) -> None:
    body = "Incorrect API key provided: sk-very-secret-key."
    with ModelServerThread([http_error(401, body)]) as server:
        done = run(workspace, *served(server), OPENAI_API_KEY="sk-very-secret-key")
        assert len(server.requests) == 1
    _, line = error_of(done)
    assert done.code == 4
    assert done.ended["reason"] == "failed"
    assert "sk-very-secret-key" not in done.stderr + done.stdout.decode()
    assert "key" in line.lower()


def test_an_unknown_model_is_named(workspace: Path) -> None:
    with ModelServerThread([http_error(404, "The model `nix` does not exist")]) as server:
        done = run(workspace, *served(server, "nix"))
    _, line = error_of(done)
    assert done.code == 4
    assert "nix" in line


def test_an_address_where_nothing_answers_is_tried_three_times_within_10_s(workspace: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    done = run(workspace, "--base-url", f"http://127.0.0.1:{port}/v1", "--model", "m")
    code, line = error_of(done)
    assert (done.code, code) == (4, "model_unreachable")
    assert str(port) in line
    assert sum(event["kind"] == "model_retried" for event in done.events) == 2
    assert done.ended["duration_s"] < 10


def test_a_host_that_does_not_exist_is_named(workspace: Path) -> None:
    done = run(
        workspace, "--base-url", "http://nothing.invalid/v1", "--model", "m", OPENAI_API_KEY="x"
    )
    assert done.code == 4
    assert "nothing.invalid" in error_of(done)[1]
    assert done.ended["duration_s"] < 10


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("[limits]\nmax_steps = 'many'\n", ("line 2", "limits.max_steps", "whole number")),
        ("[limits\n", ("line 1",)),
        ("[modell]\n", ("modell", "Did you mean model?")),
    ],
)
def test_a_broken_configuration_is_shown_and_kept(
    workspace: Path, home: Path, content: str, parts: tuple[str, ...]
) -> None:
    path = home / "config" / "config.toml"
    path.parent.mkdir()
    path.write_text(content, encoding="utf-8")
    done = run(workspace)
    code, _ = error_of(done)
    assert (done.code, code) == (2, "config")
    assert str(path) in done.one_line
    assert all(part in done.one_line for part in parts)
    assert path.read_text(encoding="utf-8") == content


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--max-steps", "many"), "--max-steps"),
        (("--max-steps", "0"), "--max-steps"),
        (("--mode", "full"), "full"),
        (("--profile", "genral"), "Did you mean general?"),
        (("--answers", "nothing.toml"), "nothing.toml"),
        (("--base-url", "localhost"), "http://"),
        (("--wat",), "--wat"),
    ],
)
def test_a_wrong_command_line_is_one_line(
    workspace: Path, words: tuple[str, ...], part: str
) -> None:
    with ModelServerThread([text("Hello.")]) as server:
        done = run(workspace, *served(server), *words)
    assert done.code == 2
    assert done.ended["reason"] == "failed"
    assert part in done.one_line


def test_a_task_that_is_missing_or_empty_is_one_line(workspace: Path) -> None:
    for words in (("run", "--json"), ("run", " ", "--json")):
        done = run_handrail(*words, folder=workspace)
        assert done.code == 2
        assert done.ended["error"]["code"] == "usage"
        assert "task" in done.one_line.lower()


def test_a_workspace_that_is_not_there_is_named(workspace: Path) -> None:
    done = run(workspace, "--workspace", "gone")
    assert (done.code, error_of(done)[0]) == (2, "workspace_missing")
    assert "gone" in done.one_line


@pytest.mark.bubblewrap
def test_a_workspace_that_is_read_only_is_named(workspace: Path, bubblewrap: Path) -> None:
    cage = [str(bubblewrap), "--dev-bind", "/", "/", "--ro-bind", str(workspace), str(workspace)]
    done = run_handrail("run", "x", "--json", folder=workspace, wrapper=cage)
    assert (done.code, error_of(done)[0]) == (2, "workspace_read_only")
    assert str(workspace) in done.one_line


def test_a_state_folder_that_cannot_be_made_is_named(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with ModelServerThread([text("Hello.")]) as server:
        done = run(workspace, *served(server), HANDRAIL_STATE_DIR=str(tmp_path / "file" / "state"))
    assert (done.code, error_of(done)[0]) == (2, "store")
    assert "HANDRAIL_STATE_DIR" in done.stderr


def test_an_engine_that_was_asked_for_and_does_not_answer_is_exit_code_6(workspace: Path) -> None:
    with ModelServerThread([text("Hello.")]) as server:
        done = run(workspace, *served(server), "--sandbox", "docker", **NO_ENGINE)
        assert server.requests == []
    assert done.code == 6
    assert "engine" in error_of(done)[1]


def test_no_sandbox_at_all_leaves_the_tools_out_and_says_so(workspace: Path) -> None:
    with ModelServerThread([text("Hello.")]) as server:
        done = run(workspace, *served(server), "--sandbox", "none")
        offered = {tool["function"]["name"] for tool in server.requests[0].json["tools"]}
    assert done.code == 0
    assert not offered & {"shell", "python"}
    assert {"edit_file", "ask_human", "finish"} <= offered


def test_without_chromium_the_browser_is_left_out(workspace: Path) -> None:
    with ModelServerThread([text("Hello.")]) as server:
        done = run(
            workspace,
            "--base-url",
            server.base_url,
            "--model",
            "scripted",
            "--sandbox",
            "none",
            HANDRAIL_CHROME="/nothing/chromium",
        )
        offered = {tool["function"]["name"] for tool in server.requests[0].json["tools"]}
    assert done.code == 0
    assert "browser" not in offered


def test_inspect_without_chromium_is_exit_code_6(workspace: Path) -> None:
    done = run_handrail(
        "inspect",
        "http://127.0.0.1:9/",
        "--allow-private",
        folder=workspace,
        environment={"HANDRAIL_CHROME": "/nothing/chromium"},
    )
    assert done.code == 6
    assert "/nothing/chromium" in done.one_line


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/", "http://10.0.0.1/", "file:///etc/passwd"])
def test_inspect_refuses_what_is_not_public_without_starting_a_browser(
    workspace: Path, url: str
) -> None:
    done = run_handrail("inspect", url, folder=workspace)
    assert done.code == 2
    assert done.stdout == b""
    assert done.one_line


def test_doctor_reports_everything_that_is_missing_and_leaves_within_10_s(workspace: Path) -> None:
    with socket.socket(socket.AF_UNIX) as hung:
        hung.bind(str(workspace / "hung.sock"))
        hung.listen()
        done = run_handrail(
            "doctor",
            "--json",
            folder=workspace,
            environment={
                "DOCKER_HOST": f"unix://{workspace / 'hung.sock'}",
                "HANDRAIL_CHROME": "/nothing/chromium",
            },
        )
    assert done.code == 1
    assert done.duration_s < 12
    [found] = done.events
    rows = {row["name"]: row for row in found["rows"]}
    assert found["ok"] is False
    assert not rows["model"]["ok"]
    assert rows["model"]["needed"]
    assert not rows["container engine"]["ok"]
    assert not rows["chromium"]["ok"]
    assert rows["installation"]["ok"]
    assert rows["model"]["hint"]


def test_doctor_is_content_where_a_run_would_work(workspace: Path) -> None:
    with ModelServerThread([text("ok")]) as server:
        done = run_handrail("doctor", *served(server), folder=workspace)
    assert done.code == 0
    assert b"A run would work." in done.stdout


def test_doctor_shows_a_broken_configuration_as_a_row(workspace: Path, home: Path) -> None:
    (home / "config").mkdir()
    (home / "config" / "config.toml").write_text("[limits\n", encoding="utf-8")
    done = run_handrail("doctor", folder=workspace)
    assert done.code == 1
    assert b"NO  settings" in done.stdout
