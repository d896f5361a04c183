"""Where a path leads: into the workspace, out of it, or to something nobody may touch.

A path is read the way the model's tools see the machine: the workspace at its place inside the sandbox, links followed
one by one on the host. Looking never opens a file.
"""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Literal

from core.path_names import NameClass, classes_of, folded

Place = Literal["workspace", "outside", "scratch", "device", "unknown"]
"""Where a path leads; `unknown` must be treated as outside."""

MAX_LINKS: Final = 40
"""Source: Linux follows at most 40 links (path_resolution(7))."""
MAX_COUNTED: Final = 2000
DEVICES: Final = frozenset(
    {
        "/dev/null",
        "/dev/stdout",
        "/dev/stderr",
        "/dev/stdin",
        "/dev/tty",
        "/dev/zero",
        "/dev/urandom",
    }
)
"""Writing to these changes no file."""
SCRATCH: Final = ("tmp", "var/tmp", "dev/shm")
_MAGIC: Final = re.compile(r"/proc/(?:self|thread-self|\d+)/(cwd|root)(?=/|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a path leads to."""

    text: str
    """As it was written."""
    path: str
    """Resolved: relative to the workspace inside it, absolute outside."""
    place: Place
    names: frozenset[NameClass] = frozenset()
    host: Path | None = None
    """On the host, inside the workspace only."""
    linked: bool = False
    """A link, or a second name of a file, was on the way."""
    holds_workspace: bool = False
    """It is the workspace itself or a folder around it."""

    @property
    def shown(self) -> str:
        """For a dialog: as written, and where it leads when that differs."""
        where = self.path or "the workspace"
        plain = self.text.removeprefix("./").rstrip("/")
        return self.text if plain == self.path else f"{self.text} -> {where}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The model's view of the file system."""

    workspace: Path
    """Absolute folder on the host."""
    inside: str = "/workspace"
    """The same folder as the model's tools name it."""
    home: str = "/home/agent"
    """Home folder as the model's tools name it."""
    mounts: tuple[str, ...] = ("/proc", "/sys", "/dev", "/boot", "/mnt", "/media", "/run", "/host")

    def resolve(self, text: str, cwd: str | None = None, *, follow: bool = True) -> Target:
        """Return where a path leads.

        Args:
            text: As a call names it; "~" is the home folder.
            cwd: Absolute folder inside it is relative to; None is the workspace, "" is not known.
            follow: Follow a link at the end; False for deleting, which removes the link itself.
        """
        if "\0" in text or (cwd == "" and not text.startswith(("/", "~"))):
            return Target(text=text, path=text, place="unknown", names=classes_of(_split(text)))
        start = self._absolute(text, cwd or self.inside)
        parts, linked = self._walk(start, follow=follow)
        if parts is None:
            return Target(text=text, path=text, place="unknown", linked=True)
        target = self._target(text, parts, linked=linked)
        if target.place == "workspace" and _MAGIC.match(text):
            # the way over /proc stands for another file in another process: never the plain workspace
            return replace(target, path=text, place="outside", host=None, linked=True)
        return target

    def count_below(self, target: Target, limit: int = MAX_COUNTED) -> int:
        """Return how many files deleting the target would remove, at most `limit`; 0 where nothing is there."""
        if target.host is None or not os.path.lexists(target.host):
            return 0
        if target.host.is_symlink() or not target.host.is_dir():
            return 1
        return sum(1 for _ in _files_below(target.host, limit))

    def is_folder(self, target: Target) -> bool:
        """Return whether the target is a folder of the workspace now."""
        return target.host is not None and not target.host.is_symlink() and target.host.is_dir()

    def secrets_below(self, target: Target, limit: int = MAX_COUNTED) -> list[str]:
        """Return paths, relative to the target, of files below it that may hold secrets."""
        if target.host is None or not self.is_folder(target):
            return []
        root = target.host
        found = []
        for path in _files_below(root, limit):
            relative = path.relative_to(root)
            if "secret" in classes_of(relative.parts):
                found.append(str(relative))
        return found

    def expand(self, pattern: str, cwd: str | None = None) -> list[str]:
        """Return the names a shell puts in the place of a pattern; the pattern itself where it finds none.

        Args:
            pattern: With *, ? or [...]; only patterns inside the workspace are looked up.
            cwd: As for `resolve`.
        """
        parts = [part for part in pattern.split("/") if part]
        start = self.resolve(".", cwd)
        if start.host is None or pattern.startswith("/") or ".." in parts:
            return [pattern]
        found = [""]
        for part in parts:
            found = [path for folder in found for path in _matches(start.host, folder, part)]
            if not found or len(found) > MAX_COUNTED:
                return [pattern]
        return found

    def _absolute(self, text: str, cwd: str) -> str:
        if text == "~" or text.startswith("~/"):
            text = self.home + text[1:]
        joined = text if text.startswith("/") else f"{cwd}/{text}"
        magic = _MAGIC.match(joined)
        while magic is not None:
            base = "" if magic[1] == "root" else cwd
            joined = base + joined[magic.end() :] or "/"
            magic = _MAGIC.match(joined)
        host = str(self.workspace)
        if host != self.inside and (joined == host or joined.startswith(host + "/")):
            joined = self.inside + joined[len(host) :]
        return joined

    def _walk(self, path: str, *, follow: bool) -> tuple[list[str] | None, bool]:
        """Follow a path part by part; None where links go round."""
        waiting = _split(path)[::-1]
        done: list[str] = []
        links = 0
        while waiting:
            part = waiting.pop()
            if part == "..":
                del done[-1:]
                continue
            done.append(part)
            target = self._link(done) if waiting or follow else None
            if target is None:
                continue
            links += 1
            if links > MAX_LINKS:
                return None, True
            done.pop()
            if target.startswith("/"):
                target, done = self._absolute(target, self.inside), []
            waiting.extend(_split(target)[::-1])
        return done, links > 0

    def _link(self, parts: list[str]) -> str | None:
        host = self._host(parts)
        if host is None:
            return None
        try:
            return str(host.readlink())
        except (OSError, ValueError):
            return None

    def _host(self, parts: list[str]) -> Path | None:
        inside = _split(self.inside)
        if parts[: len(inside)] != inside:
            return None
        return self.workspace.joinpath(*parts[len(inside) :])

    def _target(self, text: str, parts: list[str], *, linked: bool) -> Target:
        absolute = "/" + "/".join(parts)
        host = self._host(parts)
        if host is None:
            return Target(
                text=text,
                path=absolute,
                place=self._outside(absolute),
                names=classes_of(parts),
                linked=linked,
                holds_workspace=self._around(parts),
            )
        below = parts[len(_split(self.inside)) :]
        aliases, second_name = self._aliases(host)
        return Target(
            text=text,
            path="/".join(below),
            place="workspace",
            names=classes_of(below) | aliases,
            host=host,
            linked=linked or second_name,
            holds_workspace=not below,
        )

    def _outside(self, absolute: str) -> Place:
        if absolute in DEVICES or re.fullmatch(r"/dev/fd/[012]", absolute):
            return "device"
        scratch = any(absolute.startswith(f"/{folder}/") for folder in SCRATCH)
        return "scratch" if scratch else "outside"

    def _around(self, parts: list[str]) -> bool:
        known = (self.inside, str(self.workspace))
        return any(_split(folder)[: len(parts)] == parts for folder in known)

    def _aliases(self, host: Path) -> tuple[frozenset[NameClass], bool]:
        """Return what the path is by identity: a mount or a folding file system gives folders second names."""
        found: set[NameClass] = set()
        guarded = {
            _identity(self.workspace / ".git"): "protected",
            _identity(self.workspace / ".handrail"): "own",
        }
        current = host
        while current != self.workspace and current != current.parent:
            kind = guarded.get(_identity(current)) if _identity(current) else None
            if kind == "own":
                found.add("own")
            elif kind == "protected":
                found.add("protected")
            current = current.parent
        return frozenset(found), _has_second_name(host)

    def is_mount(self, target: Target) -> bool:
        """Return whether deleting the target would hit the root, the home folder or a mounted file system."""
        if target.place == "workspace":
            return False
        path = target.path.rstrip("/") or "/"
        home = self.home.rstrip("/") or "/"
        if path in ("/", home, "/home", "/root", *self.mounts):
            return True
        return target.holds_workspace or home.startswith(path + "/")


def _split(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.lstat()
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino)


def _has_second_name(path: Path) -> bool:
    try:
        status = path.lstat()
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(status.st_mode) and status.st_nlink > 1


def _files_below(folder: Path, limit: int) -> Iterator[Path]:
    """Yield files below a folder, links not followed, after looking at no more than `limit` entries."""
    waiting = [folder]
    looked = 0
    while waiting and looked <= limit:
        for entry in _entries(waiting.pop()):
            looked += 1
            if not entry.is_dir(follow_symlinks=False):
                yield Path(entry.path)
            elif folded(entry.name) != ".git":
                waiting.append(Path(entry.path))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _matches(root: Path, folder: str, part: str) -> list[str]:
    """Return the paths in a folder whose last name a shell pattern fits."""
    prefix = f"{folder}/" if folder else ""
    if not any(character in part for character in "*?["):
        return [prefix + part] if os.path.lexists(root / folder / part) else []
    hidden = part.startswith(".")
    return [
        prefix + entry.name
        for entry in sorted(_entries(root / folder), key=lambda entry: entry.name)
        if fnmatchcase(entry.name, part) and (hidden or not entry.name.startswith("."))
    ]
