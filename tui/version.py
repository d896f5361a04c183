"""The version of this program."""

from pathlib import Path


def version() -> str:
    """Return the version: from the installed package, else from the source tree."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    source = Path(__file__).resolve().parent.parent / "pyproject.toml"
    if source.is_file():
        import tomllib

        project = tomllib.loads(source.read_text(encoding="utf-8")).get("project", {})
        return str(project.get("version", "0"))
    try:
        return installed("handrail")
    except PackageNotFoundError:
        return "0"
