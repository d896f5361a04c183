"""Starts Handrail: the command `handrail`, and `python handrail.py` in a clone.

The packages of the app have short names (`core`, `tools` ...). A person who works in a project with folders of those
names, and has that project on PYTHONPATH, must not get them run inside the app. So this file takes the caller's import
paths out before it imports anything else. It uses only `os` and `sys`, which Python itself has loaded by then, so that
not even a `pathlib.py` of theirs is run. Processes the app starts still see PYTHONPATH as it was.

It cannot help against a `sitecustomize` on PYTHONPATH: Python runs that before any other file.
"""

import os
import sys


def own_import_paths(paths: list[str], pythonpath: str, home: str) -> list[str]:
    """Return `paths` without those that came from the caller.

    Args:
        paths: Import paths as in `sys.path`; an empty one means the current folder.
        pythonpath: Value of the environment variable PYTHONPATH.
        home: The folder that holds the app's packages, absolute and without links.

    Returns:
        The other paths in their old order; `home` is among them, at the end if it was not there.
    """
    callers = {os.path.realpath(entry) for entry in (*pythonpath.split(os.pathsep), os.curdir)} - {
        home
    }
    own = [path for path in paths if os.path.realpath(path) not in callers]
    if home not in map(os.path.realpath, own):
        own.append(home)
    return own


def main() -> None:
    """Run the app with the command line's arguments; ends the process with its exit code."""
    home = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = own_import_paths(sys.path, os.environ.get("PYTHONPATH", ""), home)
    try:
        from tui.__main__ import main as run

        run()
    except ModuleNotFoundError as error:
        sys.exit(f"handrail: this Python lacks {error.name}. {_remedy(home)}")


def _remedy(home: str) -> str:
    """Return what to type instead where the packages of the app are not installed for this Python."""
    own = os.path.join(home, ".venv", "bin", "python")
    if os.path.exists(own):
        return f"Use: {own} {os.path.join(home, 'handrail.py')}"
    return "In a clone, run `make run` first; it sets everything up."


if __name__ == "__main__":
    main()
