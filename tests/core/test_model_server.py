"""The scripted server is what many tests lean on, so it is tested itself."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

from core.small_http import fetch_json
from tests.support.model_server import ModelServer, ModelServerThread, text

ROOT = Path(__file__).resolve().parents[2]


def ask(base_url: str) -> str:
    body = json.dumps({"messages": [{"role": "user", "content": "go"}]}).encode()
    with urllib.request.urlopen(f"{base_url}/chat/completions", body, timeout=10) as answer:
        whole: str = answer.read().decode()
    return whole


def test_it_serves_from_a_thread_and_keeps_what_it_was_asked() -> None:
    with ModelServerThread([text("Hello")]) as server:
        assert '"He"' in ask(server.base_url)
        assert server.requests[0].messages == [{"role": "user", "content": "go"}]


def test_it_serves_a_script_file_as_a_program(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(
        json.dumps([{"calls": [["shell", {"command": "ls"}]]}, {"text": "done"}]), encoding="utf-8"
    )
    command = [sys.executable, "-m", "tests.support.model_server", "--script", str(script)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        base_url = program.stdout.readline().strip()
        assert '"shell"' in ask(base_url)
        assert '"do"' in ask(base_url)
        program.terminate()


async def test_it_says_when_its_script_is_over_and_lists_its_models() -> None:
    async with ModelServer([], models=["a", "b"]) as server:
        assert await fetch_json(f"{server.base_url}/chat/completions", {"messages": []}) is None
        listed = await fetch_json(f"{server.base_url}/models")
    assert len(server.requests) == 1
    assert [item["id"] for item in listed["data"]] == ["a", "b"]  # type: ignore[index]
