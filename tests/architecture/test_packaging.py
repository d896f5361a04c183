"""What is shipped and what is pinned."""

import importlib.metadata
import re
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.architecture.tree import (
    PACKAGES,
    REPOSITORY,
    name_of,
    package_files,
    run_python,
    tracked_files,
)

LOCKS = ("requirements.lock", "requirements-dev.lock")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def _read(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


def _pins(name: str) -> list[tuple[Requirement, int]]:
    """(requirement, number of hashes) of each pinned package."""
    entries = re.split(r"^(?=\S)", _read(name).replace("\\\n", " "), flags=re.MULTILINE)
    texts = (entry.partition("    #")[0] for entry in entries if entry.strip())
    return [(Requirement(HASH.sub("", text).strip()), len(HASH.findall(text))) for text in texts]


@pytest.mark.parametrize("name", LOCKS)
def test_every_pin_is_exact_and_has_hashes(name: str) -> None:
    loose = [
        str(pin)
        for pin, hashes in _pins(name)
        if not (hashes and str(pin.specifier).startswith("=="))
    ]
    assert loose == []
    assert len(_pins(name)) > 100


@pytest.mark.parametrize("name", LOCKS)
def test_lock_names_no_address_and_no_large_framework(name: str) -> None:
    assert "://" not in _read(name)
    assert {pin.name for pin, _ in _pins(name)} & {"torch", "tensorflow", "jax"} == set()


def test_the_test_lock_holds_the_app_lock() -> None:
    assert {str(pin) for pin, _ in _pins(LOCKS[0])} - {
        str(pin) for pin, _ in _pins(LOCKS[1])
    } == set()


def test_installed_versions_are_the_pinned_ones() -> None:
    wanted = {
        pin.name: str(pin.specifier)[2:]
        for pin, _ in _pins(LOCKS[1])
        if not pin.marker or pin.marker.evaluate()
    }
    assert {name: importlib.metadata.version(name) for name in wanted} == wanted


def test_browser_use_is_the_release_we_know() -> None:
    # A resolver that meets one pin it cannot satisfy falls back to 0.5, which installs and then fails at run time.
    assert importlib.metadata.version("browser-use").startswith("0.13.")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    ended = run_python("-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    assert ended.returncode == 0, ended.stderr
    return next(folder.glob("*.whl"))


def test_wheel_holds_the_packages_their_data_and_nothing_else(wheel: Path) -> None:
    shipped = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    suffixes = (".py", ".toml", ".md", ".tcss", ".txt", ".sh", "Dockerfile")
    present = {name_of(path) for suffix in suffixes for path in package_files(suffix, *PACKAGES)}
    assert present - shipped == set()
    assert "handrail.py" in shipped
    assert {name.partition("/")[0] for name in shipped} == {*PACKAGES, "handrail.py"}


def test_wheel_starts_from_where_it_is_unpacked(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    program = f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r}); import handrail; handrail.main()"
    ended = run_python("-P", "-c", program, "--version", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    version = tomllib.loads(_read("pyproject.toml"))["project"]["version"]
    assert ended.stdout.strip() == f"handrail {version}"


def test_tracked_files_name_no_machine_and_no_registry() -> None:
    machine = [rf"/{'work'}/(main|shared|\.library|\.mirror)", rf"/{'tmp'}/hr\b"]
    registries = [
        "pypi" + r"\.org",
        "pythonhosted" + r"\.org",
        "npmjs" + r"\.org",
        "deb" + r"\.debian\.org",
    ]
    pattern = re.compile("|".join([*machine, *registries]).encode())
    found = [name_of(path) for path in tracked_files() if pattern.search(path.read_bytes())]
    assert found == []
