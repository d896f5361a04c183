"""The container engine: where it is, whether it answers, and its errors in one clear line each.

Everything here blocks, so it is called in threads; `docker` is imported where it is first needed.
"""

import os
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.errors import SandboxUnavailableError

if TYPE_CHECKING:
    from docker import DockerClient

ANSWER_S = 5.0
"""An engine that has not answered by then hangs."""
WORK_S = 60.0
"""Time for making and starting a container on a slow machine."""
DEFAULT_HOST = "unix:///var/run/docker.sock"
START_HINT = "Start Docker, or run `handrail doctor` to see what else can be used."
GROUP_HINT = "Add yourself to the docker group and log in again, or use `--sandbox local`."


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """An engine that answered."""

    client: "DockerClient"
    socket_path: str
    version: str
    """Of the engine, such as 20.10.24."""
    rootless: bool
    selinux: bool
    """Containers are kept from files without a label of their own."""


def find_host() -> str:
    """Return the address of the engine: DOCKER_HOST, else the current context's, else the usual socket."""
    if host := os.environ.get("DOCKER_HOST", ""):
        return host
    from docker.context import ContextAPI
    from docker.errors import DockerException

    try:
        context = ContextAPI.get_current_context()
    except (DockerException, OSError, ValueError):
        return DEFAULT_HOST
    return str(getattr(context, "Host", "") or DEFAULT_HOST)


def connect(host: str = "") -> Engine:
    """Connect to the engine.

    Args:
        host: Its address; found by `find_host` when "".

    Raises:
        SandboxUnavailableError: None answers; the message says why and the hint what to do.
    """
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    host = host or find_host()
    if not host.startswith("unix://"):
        text = f"The container engine at {host.partition('?')[0]} is not on this machine."
        hint = "Use a local engine, or `--sandbox local`."
        raise SandboxUnavailableError(text, hint=hint, code="engine_remote")
    try:
        _knock(host.removeprefix("unix://"))
        return _connected(host)
    except (DockerException, RequestException, OSError, ValueError) as error:
        raise engine_error(error) from error


def _knock(socket_path: str) -> None:
    """Connect once by hand: docker-py hides why that fails, and leaks the socket when it does.

    Raises:
        OSError: Nothing is there, nobody listens, or this user may not.
    """
    with socket.socket(socket.AF_UNIX) as knocking:
        knocking.settimeout(ANSWER_S)
        knocking.connect(socket_path)


def _connected(host: str) -> Engine:
    from docker import DockerClient
    from docker.constants import MINIMUM_DOCKER_API_VERSION

    # not version="auto": that asks in the constructor and, when the engine does not answer, leaks its socket
    asking = DockerClient(base_url=host, version=MINIMUM_DOCKER_API_VERSION, timeout=int(ANSWER_S))
    try:
        facts = asking.api.version(api_version=False)
    finally:
        asking.close()
    client = DockerClient(base_url=host, version=str(facts["ApiVersion"]), timeout=int(ANSWER_S))
    try:
        options = client.info().get("SecurityOptions") or []
    except BaseException:
        client.close()
        raise
    client.api.timeout = int(WORK_S)
    return Engine(
        client=client,
        socket_path=host.removeprefix("unix://"),
        version=str(facts.get("Version", "")).partition("+")[0],
        rootless=any("rootless" in option for option in options),
        selinux=any("selinux" in option for option in options),
    )


def require_image(engine: Engine, image: str) -> None:
    """Check that the engine has an image; nothing is ever pulled unasked.

    Raises:
        SandboxUnavailableError: It has not.
    """
    from docker.errors import DockerException, ImageNotFound
    from requests.exceptions import RequestException

    try:
        engine.client.images.get(image)
    except ImageNotFound as error:
        text = f"The container engine answers but has no image {image}."
        hint = "Run `make setup` in a clone of Handrail, or `handrail doctor`."
        raise SandboxUnavailableError(text, hint=hint, code="image_missing") from error
    except (DockerException, RequestException, OSError) as error:
        raise engine_error(error) from error


_KINDS = (
    (
        ("FileNotFoundError", "No such file or directory"),
        "engine_absent",
        "No container engine runs here.",
        START_HINT,
    ),
    (
        ("ConnectionRefusedError", "Connection refused"),
        "engine_absent",
        "Docker is not running.",
        START_HINT,
    ),
    (
        ("PermissionError", "Permission denied"),
        "engine_permission",
        "This user may not use Docker.",
        GROUP_HINT,
    ),
    (
        ("timed out", "Timeout"),
        "engine_hung",
        f"The container engine does not answer within {ANSWER_S:.0f} s.",
        "Restart Docker, or use `--sandbox local`.",
    ),
    (
        ("is too new", "is too old", "no longer supported"),
        "engine_version",
        "This container engine is too old for Handrail.",
        "Update Docker, or use `--sandbox local`.",
    ),
    (
        ("executable file not found",),
        "image_unusable",
        "The image has no python3.",
        "Use an image that has python3 and bash, such as handrail-sandbox:base.",
    ),
    (
        ("No space left on device", "no space left"),
        "engine_full",
        "The container engine has no disk space left.",
        "Free some space (`docker system df` shows what is used).",
    ),
)
"""Words in an error -> code, message and hint."""


def engine_error(error: Exception) -> SandboxUnavailableError:
    """Return in one clear line what an error of docker-py, or of the connection under it, means."""
    said = f"{type(error).__name__}: {error}"
    for words, code, text, hint in _KINDS:
        if any(word in said for word in words):
            return SandboxUnavailableError(text, hint=hint, code=code)
    explanation = getattr(error, "explanation", None) or str(error)
    line = " ".join(str(explanation).split())[:300]
    return SandboxUnavailableError(
        f"The container engine says: {line}", hint=START_HINT, code="engine_error"
    )
