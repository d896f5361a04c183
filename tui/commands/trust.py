"""`handrail trust`: let the instruction files and skills of a folder be told to the agent, or no longer."""

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from core.config_layers import state_dir
from core.errors import ConfigError
from core.instructions import GuideFile, Guides, read_guides
from core.trust import STORE_NAME, TrustStore, why_never_trusted
from tui.arguments import OneLineParser, workspace_of
from tui.console import print_object, say, tell
from tui.exits import ANSWERED

HELP = "trust the AGENTS.md and skills of a folder, after showing them, or forget that"
HEAD_LINES = 5
HEAD_CHARS = 160


def add_arguments(parser: OneLineParser) -> None:
    """Add the folder."""
    parser.add_argument(
        "folder", nargs="?", metavar="DIR", help="the workspace (default: --workspace)"
    )
    parser.add_argument("--forget", action="store_true", help="trust nothing of it any more")
    parser.add_argument("--show", action="store_true", help="only show the files, change nothing")
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(options: Namespace) -> int:
    """Trust the files as they are now, or forget.

    Raises:
        ConfigError: The folder is not there or never trusted, or the store cannot be read or written.
    """
    if options.folder:
        options.workspace = options.folder
    workspace = workspace_of(options)
    store = TrustStore(state_dir() / STORE_NAME)
    if options.forget:
        was = store.forget(workspace)
        tell(f"{workspace}: {'nothing is trusted any more' if was else 'nothing was trusted'}.")
        return ANSWERED
    if reason := why_never_trusted(workspace):
        raise ConfigError(reason, code="never_trusted")
    found = read_guides(workspace)
    known = store.known(workspace)
    if not options.show and found.files:
        store.trust(workspace, found.files)
    if options.json:
        print_object(_as_json(workspace, found, known, is_changed=not options.show))
    else:
        _print(workspace, found, known, is_changed=not options.show)
    return ANSWERED


def _print(workspace: Path, found: Guides, known: Mapping[str, str], *, is_changed: bool) -> None:
    for problem in found.problems:
        say(problem)
    for file in found.files:
        tell(f"{_state(file, known):8}{file.path}  {file.size_bytes:,} bytes  sha256 {file.sha256}")
        lines = [line for line in file.text.splitlines() if line.strip()]
        for line in lines[:HEAD_LINES]:
            tell(f"        | {line[:HEAD_CHARS]}")
        if len(lines) > HEAD_LINES:
            tell(f"        | ... {len(lines) - HEAD_LINES} lines more")
    if not found.files:
        tell(f"{workspace} has no instruction files and no skills: there is nothing to trust.")
    elif is_changed:
        tell(f"Trusted, as they are now, in {workspace}. To take it back: handrail trust --forget")


def _as_json(
    workspace: Path, found: Guides, known: Mapping[str, str], *, is_changed: bool
) -> dict[str, object]:
    files = [
        {
            "path": file.path,
            "kind": file.kind,
            "size_bytes": file.size_bytes,
            "sha256": file.sha256,
            "before": _state(file, known),
        }
        for file in found.files
    ]
    return {
        "workspace": str(workspace),
        "trusted": bool(is_changed and files),
        "files": files,
        "problems": list(found.problems),
    }


def _state(file: GuideFile, known: Mapping[str, str]) -> str:
    """Return what was thought of a file before: trusted, changed or new."""
    if file.path not in known:
        return "new"
    return "trusted" if known[file.path] == file.sha256 else "changed"
