"""The policy of one session: the situation as the log tells it, and the judgement of each call in it."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from core.address import parse_web_address
from core.assessment import Assessment, OriginText, Situation
from core.dispatch import Judgement
from core.errors import EgressDeniedError
from core.events import Event, MessageSteered, RunStarted, ToolEnded, ToolProposed
from core.guidance import InstructionsLoaded
from core.messages import JsonValue
from core.policy import judge
from core.ports import CallFacts
from core.record import Record
from core.risk import assess
from core.rules import Rule
from core.surroundings import BrowserSnapshotted, SandboxChanged
from core.vocabulary import Mode

KEPT_TEXTS: Final = 400
"""Texts of the window that are kept for finding copies in outgoing calls."""
KEPT_CHARACTERS: Final = 65_536
"""Characters kept of each."""
PAGE_TOOLS: Final = frozenset({"browser", "fetch_page", "web_search"})
"""Tools whose results are the words of strangers."""


class SessionPolicy:
    """Judges calls, and learns from the log what they would run in (`core.session.Policy`)."""

    def __init__(self, situation: Situation, rules: Callable[[], Sequence[Rule]] = tuple) -> None:
        """Start in `situation`.

        Args:
            situation: Before anything happened; the log changes it.
            rules: Gives the rules that hold now, as a snapshot.
        """
        self._situation = situation
        self._rules = rules
        self._texts: deque[OriginText] = deque(situation.taint, maxlen=KEPT_TEXTS)
        self._tainted_by: dict[str, OriginText] = {}
        self._visited = set(situation.visited)
        self._granted: tuple[Rule, ...] = ()
        self._page = ""
        self._sources: dict[str, str] = {}
        self._asked: dict[str, tuple[str, ...]] = {}
        """Origins that calls under way read, by call id."""

    @property
    def situation(self) -> Situation:
        """The world as it is now."""
        return replace(
            self._situation,
            taint=(*self._tainted_by.values(), *self._texts),
            visited=frozenset(self._visited),
        )

    @property
    def tainted_by(self) -> tuple[str, ...]:
        """Origins of strangers' text in the window, oldest first."""
        return tuple(self._tainted_by)

    def assess(self, name: str, arguments: Mapping[str, JsonValue], facts: CallFacts) -> Assessment:
        """Say what a call would do now."""
        return assess(name, arguments, facts, self.situation)

    def judge(
        self, name: str, arguments: Mapping[str, JsonValue], facts: CallFacts, mode: Mode
    ) -> Judgement:
        """Decide on a call now."""
        rules = (*self._rules(), *self._granted)
        return judge(self.assess(name, arguments, facts), mode=mode, rules=rules)

    def grant(self, rule: Rule) -> None:
        """Let a rule from `core.grants.proposed_rule` hold for the rest of the session."""
        self._granted = (*self._granted, rule)

    def note(self, record: Record) -> None:
        """Learn from a record of the log."""
        event = record.event
        if isinstance(event, SandboxChanged):
            self._note_sandbox(event)
        elif isinstance(event, BrowserSnapshotted):
            self._note_page(event)
        elif isinstance(event, ToolProposed):
            self._sources[event.call_id] = _source(event)
            self._asked[event.call_id] = _origins(event)
        elif isinstance(event, ToolEnded):
            self._note_result(event)
        else:
            self._note_words(event)

    def _note_sandbox(self, event: SandboxChanged) -> None:
        if event.state not in ("starting", "ready"):
            return
        self._situation = replace(
            self._situation,
            tier=event.tier,
            inside=event.workspace or self._situation.inside,
            network=event.network not in ("", "none", "off"),
        )

    def _note_page(self, event: BrowserSnapshotted) -> None:
        try:
            origin = parse_web_address(event.url).origin
        except EgressDeniedError:
            return
        self._page = origin
        self._visited.add(origin)

    def _note_result(self, event: ToolEnded) -> None:
        source = self._sources.pop(event.call_id, "")
        asked = self._asked.pop(event.call_id, ())
        if event.outcome == "ok":
            self._visited.update(asked)
        if not event.output or event.outcome in ("denied", "invalid"):
            return
        if event.name in PAGE_TOOLS or event.name.startswith("mcp:"):
            self._note_stranger(event)
        else:
            self._keep(f"workspace:{source}", event.output)

    def _note_stranger(self, event: ToolEnded) -> None:
        if event.name.startswith("mcp:"):
            origin = event.name.partition("/")[0]
        else:
            origin = f"web:{self._page if event.name == 'browser' else event.name}"
        if origin not in self._tainted_by:
            self._tainted_by[origin] = OriginText(origin=origin, text="")
        self._keep(origin, event.output)

    def _note_words(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._keep("user", event.task)
        elif isinstance(event, MessageSteered) and event.author == "user":
            self._keep("user", event.text)
        elif isinstance(event, InstructionsLoaded) and event.source == "workspace":
            self._keep(f"workspace:{event.path}", event.text)

    def _keep(self, origin: str, text: str) -> None:
        self._texts.append(OriginText(origin=origin, text=text[:KEPT_CHARACTERS]))


def _source(event: ToolProposed) -> str:
    """Return what a call reads, as the label of its result: a path, or the command text."""
    for name in ("path", "command"):
        value = event.arguments.get(name)
        if isinstance(value, str):
            return value[:200]
    return ""


def _origins(event: ToolProposed) -> tuple[str, ...]:
    """Return the sites a call of `fetch_page` reads from."""
    urls = event.arguments.get("urls")
    if event.name != "fetch_page" or not isinstance(urls, list):
        return ()
    found = []
    for url in urls:
        with suppress(EgressDeniedError):
            found.append(parse_web_address(str(url)).origin)
    return tuple(found)
