"""What may help after a command that could not even start: a way that works, to be taken as it stands."""

import re

_DENIED = re.compile(r"^\S*?bash: (?:line \d+: )?(\S+): Permission denied$", re.MULTILINE)
_MISSING = re.compile(r"^\S*?bash: (?:line \d+: )?(\S+): command not found$", re.MULTILINE)
_INTERPRETERS = {".py": "python3", ".js": "node", ".rb": "ruby", ".pl": "perl"}
NOT_EXECUTABLE, NOT_FOUND = 126, 127
"""Source: POSIX shell, exit status of a command that was found but cannot be run, and of one that was not found."""


def command_hint(exit_code: int | None, stderr: str) -> str:
    """Return one line for the model, "" where there is nothing to say.

    Args:
        exit_code: Of the command.
        stderr: What bash said.
    """
    if exit_code == NOT_EXECUTABLE and (denied := _DENIED.search(stderr)):
        name = denied[1]
        program = next((run for end, run in _INTERPRETERS.items() if name.endswith(end)), "bash")
        return f"{name} is not marked as executable; run it as: {program} {name}"
    if exit_code == NOT_FOUND and (missing := _MISSING.search(stderr)):
        return f"there is no program {missing[1]} here, and nothing can be installed; use another"
    return ""
