"""Names of tools: as a server takes them, and back from what a model made of them."""

import hashlib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from core.chat.json_shape import items_of, mapping_of, text_of
from core.messages import ToolSpec

MAX_TOOLS = 128
"""Tools in one request. Source: OpenAI API reference, `tools`: "a max of 128 functions are supported"."""
MAX_NAME_CHARS = 64
"""Source: OpenAI API reference, function names: letters, digits, underscores, dashes, at most 64 characters."""
_ALLOWED = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_FORBIDDEN = re.compile(r"[^A-Za-z0-9_-]")
_LEADING_TOKEN = re.compile(r"^\s*(?:<[|\uff5c][^>]*>\s*)+")
_TOKEN = re.compile(r"<[|\uff5c].*", re.DOTALL)
_PREFIX = re.compile(r"^(?:functions?|tools?|default_api|repo_browser)[.:/]")
_SUFFIX = re.compile(r":\d+$")


@dataclass(frozen=True, slots=True)
class FoundTool:
    """The tool a received name means."""

    spec: ToolSpec
    changed: bool
    """The name had to be changed to find it."""


class ToolNames:
    """The names of the tools of one request.

    Args:
        specs: All tools of the request, in order; those beyond `MAX_TOOLS` are left out.
    """

    def __init__(self, specs: Sequence[ToolSpec]) -> None:
        self.left_out = max(0, len(specs) - MAX_TOOLS)
        """How many tools were not sent."""
        self._wire: dict[str, str] = {}
        self._specs: dict[str, ToolSpec] = {}
        unique: dict[str, ToolSpec] = {}
        for spec in specs[:MAX_TOOLS]:
            unique.setdefault(spec.name, spec)
        kept = tuple(unique.values())
        # Names that need no change keep theirs, whatever the order: a stable prompt is cached by the server.
        for spec in sorted(kept, key=lambda spec: _ALLOWED.fullmatch(spec.name) is None):
            name = _free_name(spec.name, self._specs)
            self._wire[spec.name] = name
            self._specs[name] = spec
        self.sent = tuple((self._wire[spec.name], spec) for spec in kept)
        """Name on the wire and tool, in the order given."""
        self._loose: dict[str, list[str]] = {}
        for name, spec in self.sent:
            for known in {_loosened(name), _loosened(spec.name)}:
                self._loose.setdefault(known, []).append(name)

    @property
    def originals(self) -> dict[str, str]:
        """Map from each name as sent to the tool's own name."""
        return {name: spec.name for name, spec in self.sent}

    def wire(self, name: str) -> str:
        """Return how a tool of this name is called on the wire, also when it is not offered."""
        return self._wire.get(name) or (name if _ALLOWED.fullmatch(name) else _allowed(name))

    def knows(self, received: str) -> bool:
        """Return whether a name is one that was sent, or a tool's own."""
        return received in self._specs or received in self._wire

    def find(self, received: str) -> FoundTool | None:
        """Return the tool meant by a name as a model wrote it, None when there is none or more than one."""
        exact = self._specs.get(received) or self._specs.get(self._wire.get(received, ""))
        if exact is not None:
            return FoundTool(exact, changed=False)
        bare = bare_name(received)
        meant = self._specs.get(bare) or self._specs.get(self._wire.get(bare, ""))
        if meant is None and bare.isascii():
            # A look-alike letter or a hidden character makes another name, never this one.
            candidates = self._loose.get(_loosened(bare), [])
            meant = self._specs[candidates[0]] if len(candidates) == 1 else None
        return FoundTool(meant, changed=True) if meant is not None else None

    def takes(self, received: str, arguments: Collection[str]) -> bool:
        """Return whether a tool of exactly this name has all these arguments and requires no others."""
        found = self.find(received) if self.knows(received) else None
        if found is None:
            return False
        schema = found.spec.parameters
        given = set(arguments)
        return given <= mapping_of(schema.get("properties")).keys() and given.issuperset(
            text_of(name) for name in items_of(schema.get("required"))
        )


def bare_name(received: str) -> str:
    """Return a name without what templates and streams glue to it: `functions.`, `:0`, `<|channel|>...`, itself."""
    bare = _TOKEN.sub("", _LEADING_TOKEN.sub("", received)).strip().strip("\"'`")
    half = bare[: len(bare) // 2]
    return _SUFFIX.sub("", _PREFIX.sub("", half if half and bare == half * 2 else bare))


def _loosened(name: str) -> str:
    return _FORBIDDEN.sub("", name).replace("-", "").replace("_", "").casefold()


def _allowed(name: str) -> str:
    clean = _FORBIDDEN.sub("_", name)
    if not clean or not _ALLOWED.match(clean):
        clean = f"_{clean}"
    return clean if len(clean) <= MAX_NAME_CHARS else _hashed(clean, name)


def _hashed(clean: str, name: str) -> str:
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:6]
    return f"{clean[: MAX_NAME_CHARS - 7]}_{digest}"


def _free_name(name: str, taken: dict[str, ToolSpec]) -> str:
    clean = name if _ALLOWED.fullmatch(name) else _allowed(name)
    number = 0
    while clean in taken:
        clean = _hashed(clean, f"{name}\0{number}")
        number += 1
    return clean
