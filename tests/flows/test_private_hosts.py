"""Pages of this machine: refused by default, and opened by the person alone, host by host and port by port."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import Done, run_handrail
from tests.support.model_server import ModelServerThread, calls, text
from tests.support.site_server import Site


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site() as running:
        yield running


def read(workspace: Path, urls: list[str], *words: str) -> list[dict[str, Any]]:
    """Let the model read each page in a call of its own; return how the calls ended."""
    fetches = [calls(("fetch_page", {"urls": [url]})) for url in urls]
    return ended(run(workspace, [*fetches, text("Done.")], "--no-browser", *words))


def run(workspace: Path, script: list[Any], *words: str) -> Done:
    with ModelServerThread(script) as server:
        options = ("--json", "--sandbox", "none", "--base-url", server.base_url, "--model", "m")
        return run_handrail("run", "read it", *options, *words, folder=workspace)


def ended(done: Done) -> list[dict[str, Any]]:
    assert done.code == 0, done.stderr
    return [event for event in done.events if event["kind"] == "tool_ended"]


def authority(url: str) -> str:
    return url.removeprefix("http://")


def test_a_page_of_this_machine_is_refused_and_the_refusal_names_the_option(
    workspace: Path, site: Site
) -> None:
    before = len(site.first.requests)
    (refused,) = read(workspace, [site.first.url + "/article.html"])
    assert refused["outcome"] == "denied"
    assert "--allow-private HOST:PORT" in refused["output"] + refused["error"]
    assert len(site.first.requests) == before


def test_a_host_and_port_that_the_person_opened_is_read_and_no_other_port(
    workspace: Path, site: Site
) -> None:
    redirect = f"{site.first.url}/redirect?to={site.second.url}/article.html"
    before = len(site.second.requests)
    opened, other, redirected = read(
        workspace,
        [site.first.url + "/article.html", site.second.url + "/article.html", redirect],
        "--allow-private",
        authority(site.first.url),
    )
    assert "On bridges" in opened["output"]
    assert other["outcome"] == "denied"
    assert redirected["outcome"] == "failed"
    assert "--allow-private" in str(redirected)
    assert len(site.second.requests) == before


def test_a_host_alone_is_opened_at_every_port_and_the_option_can_be_given_again(
    workspace: Path, site: Site
) -> None:
    urls = [site.first.url + "/article.html", site.second.url + "/article.html"]
    both = read(workspace, urls, "--allow-private", "10.0.0.1:1", "--allow-private", "127.0.0.1")
    assert [call["outcome"] for call in both] == ["ok", "ok"]


def test_the_settings_open_a_host_too_but_a_file_of_the_workspace_does_not(
    workspace: Path, home: Path, site: Site
) -> None:
    line = f'[browser]\nallow_private = ["{authority(site.first.url)}"]\n'
    (workspace / "config.toml").write_text(line)
    (workspace / ".handrail").mkdir()
    (workspace / ".handrail/config.toml").write_text(line)
    (refused,) = read(workspace, [site.first.url + "/article.html"])
    assert refused["outcome"] == "denied"
    (home / "config").mkdir()
    (home / "config/config.toml").write_text(line)
    (opened,) = read(workspace, [site.first.url + "/article.html"])
    assert opened["outcome"] == "ok"


@pytest.mark.parametrize("value", ["http://127.0.0.1:80", "127.0.0.1:x", "169.254.169.254"])
def test_a_mistake_in_the_option_is_one_line_and_exit_code_2(workspace: Path, value: str) -> None:
    done = run_handrail(
        "run",
        "x",
        "--base-url",
        "http://127.0.0.1:1/v1",
        "--allow-private",
        value,
        folder=workspace,
    )
    assert done.code == 2
    assert "--allow-private" in done.one_line


@pytest.mark.chromium
def test_the_browser_opens_it_too_and_stays_away_from_other_ports(
    workspace: Path, site: Site
) -> None:
    redirect = f"{site.first.url}/redirect?to={site.second.url}/article.html"
    script = [
        calls(("browser", {"action": "go_to", "url": url}))
        for url in (site.first.url + "/article.html", site.second.url + "/article.html", redirect)
    ]
    before = len(site.second.requests)
    opened, other, redirected = ended(
        run(workspace, [*script, text("Done.")], "--allow-private", authority(site.first.url))
    )
    assert opened["outcome"] == "ok"
    assert "bridges" in opened["output"]
    assert other["outcome"] == "denied"
    assert redirected["outcome"] != "ok"
    assert "--allow-private" in str(redirected)
    assert len(site.second.requests) == before
