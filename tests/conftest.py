"""What every test gets: an empty home, no keys, no network but this machine, and its requirements checked."""

import errno
import functools
import ipaddress
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import psutil
import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
IN_CI = bool(os.environ.get("CI"))
IMAGE = "handrail-sandbox:base"
ONE_AT_A_TIME = ("docker", "chromium", "pty")
"""Markers whose tests keep to one worker each: two browsers or engines at once on two cores run into time limits."""

hypothesis.settings.register_profile("handrail", deadline=None, derandomize=IN_CI)
hypothesis.settings.load_profile("handrail")


class LoopbackOnly:
    """Refuses connections and look-ups that would leave this machine, as a machine without a network does.

    Code under test may swallow the refusal, so each one is kept, and a test that leaves one behind fails. A test that
    means to be refused empties `refused` itself.
    """

    RESERVED = (".invalid", ".test", ".example", "example.com", "example.org", "example.net")
    """Names that exist nowhere (RFC 2606): looking one up is refused but is no mistake."""

    def __init__(self) -> None:
        self.refused: list[str] = []
        self._connect = socket.socket.connect
        self._connect_ex = socket.socket.connect_ex
        self._getaddrinfo = socket.getaddrinfo

    def install(self, patch: pytest.MonkeyPatch) -> None:
        guard = self

        def connect(self: socket.socket, address: Any) -> None:
            guard._check(self, address)
            guard._connect(self, address)

        def connect_ex(self: socket.socket, address: Any) -> int:
            try:
                guard._check(self, address)
            except OSError as error:
                return error.errno or errno.ENETUNREACH
            return guard._connect_ex(self, address)

        patch.setattr(socket.socket, "connect", connect)
        patch.setattr(socket.socket, "connect_ex", connect_ex)
        patch.setattr(socket, "getaddrinfo", self._look_up)

    def _check(self, sock: socket.socket, address: Any) -> None:
        if sock.family in (socket.AF_INET, socket.AF_INET6) and not _is_here(address[0]):
            self.refused.append(f"connection to {address[0]} port {address[1]}")
            raise OSError(errno.ENETUNREACH, "tests reach this machine only", str(address[0]))

    def _look_up(self, host: Any, *rest: Any, **options: Any) -> Any:
        name = host.decode("idna") if isinstance(host, bytes) else host
        if name is None or _is_here(name) or _is_address(name):
            return self._getaddrinfo(host, *rest, **options)
        if not name.rstrip(".").endswith(self.RESERVED):
            self.refused.append(f"look-up of {name}")
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def _is_here(host: str) -> bool:
    if host == "" or host == "localhost" or host.endswith(".localhost"):
        return True
    if not _is_address(host):
        return False
    address = ipaddress.ip_address(host.partition("%")[0])
    mapped = getattr(address, "ipv4_mapped", None) or address
    return mapped.is_loopback or mapped.is_unspecified


GUARD = LoopbackOnly()


def pytest_configure(config: pytest.Config) -> None:
    patch = pytest.MonkeyPatch()
    GUARD.install(patch)
    config.add_cleanup(patch.undo)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        group = next((name for name in ONE_AT_A_TIME if item.get_closest_marker(name)), None)
        if group is not None:
            item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture(scope="session", autouse=True)
def no_process_left() -> Iterator[None]:
    yield
    _, alive = psutil.wait_procs(psutil.Process().children(recursive=True), timeout=3)
    commands = [" ".join(process.cmdline()) for process in alive if process.is_running()]
    for process in alive:
        process.kill()
    assert not commands, f"tests left processes running: {commands}"


@pytest.fixture(autouse=True)
def network() -> Iterator[LoopbackOnly]:
    """The guard, with what it refused in this test."""
    GUARD.refused.clear()
    yield GUARD
    refused = list(GUARD.refused)
    assert not refused, f"the test tried to leave this machine: {refused}"


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder, and an environment that names nothing of the person who runs the tests."""
    folder = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if _is_personal(name):
            monkeypatch.delenv(name)
    for name, value in _clean_environment(folder).items():
        monkeypatch.setenv(name, value)
    return folder


def _is_personal(name: str) -> bool:
    if name in {"HANDRAIL_CHROME", "TEXTUAL_SNAPSHOT_TEMPDIR"}:
        return False  # the latter is where pytest-textual-snapshot keeps what its report shows
    prefixes = ("OPENAI_", "ANTHROPIC_", "HANDRAIL_", "XDG_", "TMUX", "TEXTUAL", "CLICOLOR", "GIT_")
    exact = (
        "NO_COLOR",
        "FORCE_COLOR",
        "COLUMNS",
        "LINES",
        "TERM_PROGRAM",
        "PYTHONPATH",
        "EDITOR",
        "VISUAL",
    )
    return name.startswith(prefixes) or name.upper().endswith("_PROXY") or name in exact


def _clean_environment(home: Path) -> dict[str, str]:
    runtime = home / "runtime"
    runtime.mkdir(mode=0o700)
    return {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_STATE_HOME": str(home / ".local/state"),
        "XDG_DATA_HOME": str(home / ".local/share"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_RUNTIME_DIR": str(runtime),
        "HANDRAIL_CONFIG_DIR": str(home / "config"),
        "HANDRAIL_STATE_DIR": str(home / "state"),
        "PLAYWRIGHT_BROWSERS_PATH": BROWSERS_PATH,
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
        "ANONYMIZED_TELEMETRY": "false",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
    }


def _browsers_path() -> str:
    """Where Playwright keeps its browsers: below the real home, which tests do not see."""
    caches = (Path.home() / ".cache/ms-playwright", Path.home() / "Library/Caches/ms-playwright")
    found = next((str(cache) for cache in caches if cache.is_dir()), str(caches[0]))
    return os.environ.get("PLAYWRIGHT_BROWSERS_PATH", found)


BROWSERS_PATH = _browsers_path()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty folder for the agent to work in."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture(autouse=True)
def requirements(request: pytest.FixtureRequest) -> None:
    """A test marked docker, chromium or bubblewrap runs only where that is there."""
    for marker, problem in PROBLEMS.items():
        if request.node.get_closest_marker(marker):
            _need(problem())


@pytest.fixture
def docker_engine() -> str:
    """Requires a container engine; the name of the image to start."""
    _need(_engine_problem())
    return IMAGE


@pytest.fixture
def chromium() -> Path:
    """Requires a Chromium; its program."""
    _need(_chromium_problem())
    path = _chromium_path()
    assert path is not None
    return path


@pytest.fixture
def bubblewrap() -> Path:
    """Requires a bubblewrap that may make namespaces; its program."""
    _need(_bubblewrap_problem())
    return Path(str(shutil.which("bwrap")))


def _need(problem: str | None) -> None:
    if problem is None:
        return
    if IN_CI:
        pytest.fail(f"{problem} CI does without nothing.", pytrace=False)
    pytest.skip(problem)


@functools.cache
def _engine_problem() -> str | None:
    import docker
    from docker.errors import DockerException, ImageNotFound

    try:
        client = docker.from_env(timeout=5)
        try:
            client.images.get(IMAGE)
        finally:
            client.close()
    except ImageNotFound:
        return f"The engine has no image {IMAGE}: run `make setup`."
    except (DockerException, OSError):
        return "No container engine answers: run `make setup`."
    return None


@functools.cache
def _chromium_path() -> Path | None:
    stamp = REPOSITORY / ".venv/.stamps/chromium"
    set_up = stamp.read_text(encoding="utf-8").strip() if stamp.is_file() else ""
    names = (
        os.environ.get("HANDRAIL_CHROME", ""),
        set_up,
        "chromium",
        "chromium-browser",
        "google-chrome",
    )
    found = (shutil.which(name) for name in names if name)
    return next((Path(path) for path in found if path), None)


@functools.cache
def _chromium_problem() -> str | None:
    path = _chromium_path()
    if path is None:
        return "No Chromium: run `make setup`."
    return None if _runs(str(path), "--version") else f"{path} does not start."


@functools.cache
def _bubblewrap_problem() -> str | None:
    if shutil.which("bwrap") is None:
        return "No bubblewrap: run `make setup`."
    if _runs("bwrap", "--ro-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "true"):
        return None
    return "Bubblewrap may make no namespaces here."


def _runs(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, timeout=30, check=False).returncode == 0


PROBLEMS = {
    "docker": _engine_problem,
    "chromium": _chromium_problem,
    "bubblewrap": _bubblewrap_problem,
}
