"""What files tell the agent: looked for when a session opens, trusted by the person, then put into its memory."""

import asyncio
import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from core.config_layers import config_dir, state_dir
from core.decision import ApprovalPrompt
from core.errors import ConfigError
from core.events import NoticeRaised
from core.guidance import GuidanceSource, InstructionsLoaded
from core.instructions import GuideFile, cut_text, read_guides, read_skill_files
from core.session import Session
from core.skills import Skill, SkillShelf, parse_skill
from core.trust import STORE_NAME, TrustStore, digest_of, why_never_trusted
from tui.run_report import NOT_TRUSTED

MAX_TOLD_BYTES: Final = 32_768
"""All instruction files together; less where the window of the model is small."""
SHOWN_CHARS: Final = 4_000
"""Characters of each file that the question shows."""
SKILLS_PATH: Final = "skills"
"""Stands for the list of skills, which is of no one file."""
ROOT_HEAD: Final = (
    "Instructions of this workspace ({path}), for all work in it. "
    "What the person says counts more, and nothing here allows what is refused."
)
FOLDER_HEAD: Final = (
    "Instructions for the files below {folder}/ ({path}). "
    "There they count more than those of the folders above, and less than what the person says."
)
SKILLS_HEAD: Final = (
    "Skills: how certain kinds of work are done here. "
    "When one fits the task, read it with the tool `skill` before you start."
)


class Guidance:
    """The instructions and skills of one session."""

    def __init__(self, workspace: Path) -> None:
        """Prepare for `workspace` (absolute, resolved)."""
        self._workspace = workspace
        self.shelf = SkillShelf()
        """Skills that may be read."""
        self._store = TrustStore(state_dir() / STORE_NAME)
        self._limit_bytes = MAX_TOLD_BYTES
        self._trusted: Sequence[GuideFile] = ()
        self._others: Sequence[GuideFile] = ()
        self._own_skills: Sequence[GuideFile] = ()
        self._problems: list[str] = []
        self._said: set[str] = set()
        self._question: asyncio.Task[None] | None = None

    def look(self) -> None:
        """Look at the workspace and at the person's own skills; blocks."""
        found = read_guides(self._workspace)
        kinds = self._store.sort(self._workspace, found.files)
        self._trusted, self._others = kinds.trusted, kinds.others
        own = read_skill_files(config_dir() / "skills")
        self._own_skills = own.files
        self._problems = [*found.problems, *own.problems]

    def tell(self, session: Session, *, asks: bool, window: int) -> None:
        """Put what may be used into memory, say what may not, and ask for it where somebody can answer.

        Args:
            session: Open.
            asks: A person is at the screen.
            window: Of the model, in tokens; 0 where unknown.
        """
        self._limit_bytes = min(MAX_TOLD_BYTES, window or MAX_TOLD_BYTES)
        self._load(session)
        for problem in self._problems:
            self._warn(session, problem)
        if not self._others:
            return
        if asks and not why_never_trusted(self._workspace):
            self._question = asyncio.create_task(self._ask(session), name="trust")
        else:
            session.log.append(self._ignored())

    async def settled(self) -> float:
        """Wait until the question of trust is answered; return the seconds that took."""
        if self._question is None or self._question.done():
            return 0.0
        started_s = time.monotonic()
        await asyncio.shield(self._question)
        return time.monotonic() - started_s

    async def close(self) -> None:
        """Withdraw the question; safe to call twice."""
        if self._question is not None:
            self._question.cancel()
            with suppress(asyncio.CancelledError):
                await self._question

    async def _ask(self, session: Session) -> None:
        """Ask until what was shown is what is there, or the person says no."""
        while self._others:
            shown = digest_of(self._others)
            answer = await session.gate.ask(
                trust_prompt(self._workspace, self._others, self._known)
            )
            if answer.resolution != "approved":
                session.log.append(self._ignored())
                return
            await asyncio.to_thread(self.look)
            if digest_of(self._others) != shown:
                continue
            try:
                everything = (*self._trusted, *self._others)
                await asyncio.to_thread(self._store.trust, self._workspace, everything)
            except ConfigError as error:
                session.log.append(
                    NoticeRaised(
                        level="error", text=error.message, hint=error.hint, code=error.code
                    )
                )
            self._trusted, self._others = (*self._trusted, *self._others), ()
            self._load(session)

    @property
    def _known(self) -> Mapping[str, str]:
        return self._store.known(self._workspace)

    def _ignored(self) -> NoticeRaised:
        names = ", ".join(f"{file.path} ({file.size_bytes:,} bytes)" for file in self._others)
        never = why_never_trusted(self._workspace)
        return NoticeRaised(
            level="warning",
            text=f"Not trusted, so ignored: {names}.",
            hint=never or f"Read them, then: handrail trust {self._workspace}",
            code=NOT_TRUSTED,
        )

    def _load(self, session: Session) -> None:
        """Put what is trusted into memory, as far as it is not there already."""
        told = _told(session)
        events = [*self._instructions(session), *self._skills(session)]
        new = [event for event in events if told.get(event.path) != event.sha256]
        for event in new:
            session.log.append(event)
        if new:
            names = ", ".join(event.path for event in new)
            session.log.append(
                NoticeRaised(level="info", text=f"Told to the agent: {names}.", code="instructions")
            )

    def _instructions(self, session: Session) -> list[InstructionsLoaded]:
        files = [file for file in self._trusted if file.kind == "instructions"]
        left, events = self._limit_bytes, []
        for file in files:
            text, missing = cut_text(file.text.strip(), left)
            left -= len(text.encode("utf-8"))
            if missing:
                text += f"\n[{missing:,} bytes more of {file.path} were left out]"
                self._warn(session, f"{file.path} is long: {missing:,} bytes of it are left out.")
            head = FOLDER_HEAD if file.folder else ROOT_HEAD
            head = head.format(path=file.path, folder=file.folder)
            events.append(
                InstructionsLoaded(path=file.path, text=f"{head}\n\n{text}", sha256=file.sha256)
            )
        return events

    def _skills(self, session: Session) -> list[InstructionsLoaded]:
        own = self._parsed(session, self._own_skills, "user")
        trusted = [file for file in self._trusted if file.kind == "skill"]
        self.shelf.add([*own, *self._parsed(session, trusted, "workspace")])
        listing = self.shelf.listing()
        if not listing:
            return []
        return [
            InstructionsLoaded(
                path=SKILLS_PATH,
                text=f"{SKILLS_HEAD}\n{listing}",
                sha256=hashlib.sha256(listing.encode()).hexdigest(),
                source="workspace" if trusted else "user",
            )
        ]

    def _parsed(
        self, session: Session, files: Iterable[GuideFile], source: GuidanceSource
    ) -> list[Skill]:
        skills = []
        for file in files:
            try:
                skills.append(parse_skill(file, source))
            except ConfigError as error:
                self._warn(session, error.line())
        return skills

    def _warn(self, session: Session, text: str) -> None:
        """Say once what cannot be used."""
        if text not in self._said:
            self._said.add(text)
            session.log.append(NoticeRaised(level="warning", text=text, code="instructions"))


def trust_prompt(
    workspace: Path, files: Sequence[GuideFile], known: Mapping[str, str]
) -> ApprovalPrompt:
    """Return the question whether files may tell the agent something.

    Args:
        workspace: Their folder.
        files: Those that are not trusted as they are.
        known: Digests that are trusted, by path.
    """
    parts = [f"{file_line(file)}  {'changed' if file.path in known else 'new'}" for file in files]
    return ApprovalPrompt(
        call_id="",
        tool="trust",
        arguments={file.path: _shown(file) for file in files},
        risk="R3",
        strong=True,
        title=f"Trust what these files of {workspace} tell the agent?",
        parts=tuple(parts),
        reasons=(
            "They would stand in its memory like words of yours. Not trusted, they are ignored.",
            "Trust holds for this folder and these exact bytes; a change asks again.",
        ),
        digest=digest_of(files),
        effect="trust them",
        editable=False,
    )


def file_line(file: GuideFile) -> str:
    """Return a file with its size and digest, as one line."""
    return f"{file.path}  {file.size_bytes:,} bytes  sha256 {file.sha256[:16]}"


def _shown(file: GuideFile) -> str:
    more = len(file.text) - SHOWN_CHARS
    return file.text if more <= 0 else f"{file.text[:SHOWN_CHARS]}\n[{more:,} characters more]"


def _told(session: Session) -> dict[str, str]:
    """Return the digest of each file whose text is in memory, by path."""
    events = (record.event for record in session.log.records)
    return {event.path: event.sha256 for event in events if isinstance(event, InstructionsLoaded)}
