"""The only place that chooses real parts: settings in, session out."""

import asyncio
import difflib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path

from core.assessment import Situation
from core.config_layers import config_dir, state_dir
from core.config_load import Configuration
from core.errors import ConfigError, SandboxError
from core.event_log import SystemClock
from core.events import NoticeRaised
from core.fallback import FallbackModel
from core.ports import Model, Places, Tool
from core.private_hosts import parse_private_host
from core.profile import Profile, load_profile
from core.risk import ASSESSORS
from core.rule_file import POLICY_NAME, RuleSet, load_rules
from core.session import Closable, Session, SessionParts, SessionSettings
from core.session_policy import SessionPolicy
from core.spending import FOLDER_NAME, FilePurse, NoPurse, Purse
from core.stored_results import StoredResults, window_limit
from sandbox.manager import SandboxManager
from tools.own_tools import OWN_TOOLS, OwnTools, load_own_tools
from tools.skill import SkillTool
from tui.crash import explained_crash
from tui.guidance import Guidance
from tui.model_choice import built_model, check_model, choose_model
from tui.run_limits import limits_of, unknown_tools
from tui.session_folders import new_session_folder
from tui.toolbox import LateSink, Preparation, Toolbox, packed_toolbox
from tui.version import version


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPlan:
    """What a session is to be."""

    configuration: Configuration
    places: Places
    attended: bool
    """Somebody answers its decisions."""
    model: Model | None
    scripted: bool = False
    """The model is the tour's script."""
    needs_sandbox: bool = False
    """A run fails where the sandbox that the settings name cannot be had."""
    open_hosts: frozenset[tuple[str, int]] = frozenset()
    """Private hosts and ports that are let through, besides those of the settings."""
    own: OwnTools = field(default_factory=OwnTools)
    """The person's own tools, loaded."""
    guidance: Guidance | None = None
    """What files tell the agent, looked for; None for nothing."""
    resources: Sequence[Closable] = field(default_factory=tuple)
    """More things that end with the session, before its own."""
    afterwards: Sequence[Closable] = field(default_factory=tuple)
    """Things that end after all others."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """A session and what it works with."""

    session: Session
    toolbox: Toolbox


def assembled(plan: SessionPlan) -> Assembled:
    """Make the session that is planned.

    Raises:
        ConfigError: The profile or the settings are wrong.
        StoreError: The journal cannot be opened.
    """
    settings, places = plan.configuration.settings, plan.places
    profile = load_profile(settings.profile, config_dir())
    sink = LateSink()
    results = StoredResults(places.session, partial(_result_bytes, plan.model, profile))
    shelf = plan.guidance.shelf if plan.guidance else None
    toolbox = packed_toolbox(settings, places, sink, results, shelf)
    own = plan.own.tools
    opened = plan.open_hosts | {parse_private_host(one) for one in settings.browser.allow_private}
    for host, port in opened:
        toolbox.egress.allow(host, port)
    situation = Situation(
        workspace=places.workspace,
        hosts_listed=settings.browser.hosts == "listed",
        private_allowed=opened,
        own_tools=frozenset(tool.name for tool in own),
    )
    rules = load_rules(config_dir() / POLICY_NAME)
    session = Session(
        SessionParts(
            settings=SessionSettings(
                session_id=places.session.name,
                version=version(),
                system=profile.system_prompt(_slots()),
                brief_system=profile.brief_prompt(_slots()),
                profile=profile.name,
                answer_tokens=settings.model.max_output_tokens,
                max_tools=profile.file.max_tools,
                relevance_threshold=profile.file.relevance_threshold,
                mode="read" if rules.problem else settings.mode,
                limits=limits_of(plan.configuration, profile),
                scripted=plan.scripted,
            ),
            places=places,
            model=plan.model,
            tools=offered_tools(toolbox.tools, profile, own),
            policy=SessionPolicy(situation, rules=lambda: rules.rules),
            attended=plan.attended,
            prepare=Preparation(
                toolbox.sandbox, required=plan.needs_sandbox, guidance=plan.guidance
            ),
            explain_defect=explained_crash,
            purse=_purse(plan),
            results=results,
            resources=(*plan.resources, *toolbox.resources, *plan.afterwards),
        )
    )
    sink.join(session.log.append)
    unknown = unknown_tools(plan.configuration, (*toolbox.tools, *own))
    for notice in (*_said_of(rules), *unknown, *_said_of_own(plan.own)):
        session.log.append(notice)
    return Assembled(session, toolbox)


def _result_bytes(model: Model | None, profile: Profile) -> int:
    """Return how long a result may be to go to the model whole: as the profile says, else as the window allows."""
    return profile.file.result_bytes or window_limit(model.window if model else 0)


def _purse(plan: SessionPlan) -> Purse:
    """Return what keeps the money spent; a script spends none."""
    if plan.scripted:
        return NoPurse()
    return FilePurse(state_dir() / FOLDER_NAME, plan.places.session.name, SystemClock())


def _said_of(rules: RuleSet) -> Sequence[NoticeRaised]:
    """Return what the person should know of their rule file."""
    notices = []
    if rules.problem is not None:
        notices.append(_read_mode_notice(rules.problem))
    if rules.warning:
        notices.append(NoticeRaised(level="warning", text=rules.warning, code="policy"))
    return notices


def _said_of_own(own: OwnTools) -> Sequence[NoticeRaised]:
    """Return what the person should know of their own tools: one line for each that is not offered."""
    hint = "Only this is left out; see docs/own_tool.md."
    return [
        NoticeRaised(level="warning", text=problem.line(), hint=hint, code="own_tool")
        for problem in own.problems
    ]


def _read_mode_notice(problem: ConfigError) -> NoticeRaised:
    hint = f"{problem.hint} The mode is read until it is mended.".strip()
    return NoticeRaised(level="error", text=problem.message, hint=hint, code=problem.code)


def _left_out_notice(problem: ConfigError) -> NoticeRaised:
    return NoticeRaised(level="warning", text=problem.message, hint=problem.hint, code="fallback")


def offered_tools(
    tools: Sequence[Tool], profile: Profile, own: Sequence[Tool] = ()
) -> Sequence[Tool]:
    """Return the tools a profile wants, all where it names none; skills can be read with every profile.

    Args:
        tools: Those that come with Handrail.
        profile: What is wanted.
        own: The person's own.

    Raises:
        ConfigError: It names one that does not exist.
    """
    wanted = {*profile.file.tools, SkillTool.name} if profile.file.tools else set()
    known = sorted(tool.name for tool in (*tools, *own))
    if unknown := [name for name in profile.file.tools if name not in known]:
        near = difflib.get_close_matches(unknown[0], known, n=1)
        guess = f"Did you mean {near[0]}? " if near else ""
        text = f"names what does not exist: {', '.join(unknown)}."
        raise profile.wrong("tools", text, f"{guess}Known: {', '.join(known)}.")
    offered = [tool for tool in tools if not wanted or tool.name in wanted]
    return [*offered, *(tool for tool in own if profile.file.own_tools or tool.name in wanted)]


class Wiring:
    """Opens a session as the settings say."""

    def __init__(
        self,
        configuration: Configuration,
        workspace: Path,
        *,
        attended: bool,
        on_screen: bool = False,
        folder: Path | None = None,
    ) -> None:
        """Plan a session.

        Args:
            configuration: Settings.
            workspace: Absolute, resolved.
            attended: Somebody answers decisions.
            on_screen: A person watches: the sandbox is brought up before it is asked for, and where it cannot be
                had the run goes on without it. Headless, a sandbox that the settings name must be there.
            folder: Folder of an earlier session to go on with, None for a new one.
        """
        self._configuration = configuration
        self._places = Places(workspace=workspace, session=folder or new_session_folder())
        self._attended = attended
        self._on_screen = on_screen
        self._warming: list[asyncio.Task[None]] = []

    @property
    def session_id(self) -> str:
        """Id of the session, opened or not."""
        return self._places.session.name

    async def open_session(self) -> Session:
        """Open the session.

        Raises:
            ConfigError: No model is configured, or something is wrong with the settings.
            StoreError: The journal cannot be opened.
        """
        return await self._open(await asyncio.to_thread(self._model))

    async def open_without_model(self) -> Session:
        """Open the session even where no model is configured: its runs end at once and say what is missing.

        Raises:
            ConfigError: Something else is wrong with the settings.
            StoreError: The journal cannot be opened.
        """
        try:
            return await self.open_session()
        except ConfigError as error:
            if error.code not in ("no_model", "no_key"):
                raise
        return await self._open(None)

    async def _open(self, model: FallbackModel | None) -> Session:
        guidance = Guidance(self._places.workspace)
        own = await asyncio.to_thread(_looked, guidance)
        made = assembled(
            SessionPlan(
                own=own,
                guidance=guidance,
                configuration=self._configuration,
                places=self._places,
                attended=self._attended,
                model=model,
                needs_sandbox=not self._on_screen and self._names_sandbox,
                resources=(guidance, model) if model else (guidance,),
            )
        )
        session = made.session
        if model:
            self._warming.append(asyncio.create_task(model.warm()))
        if model and self._on_screen:
            self._warming.append(asyncio.create_task(_brought_up(made.toolbox.sandbox)))
        if (problem := self._configuration.problem) is not None:
            session.log.append(_read_mode_notice(problem))
        for left_out in model.left_out if model else ():
            session.log.append(_left_out_notice(left_out))
        if model:
            guidance.tell(session, asks=self._on_screen, window=model.window)
        return session

    @property
    def _names_sandbox(self) -> bool:
        return self._configuration.settings.sandbox.kind in ("docker", "local")

    def _model(self) -> FallbackModel:
        choice = choose_model(self._configuration)
        check_model(self._configuration, choice)
        return built_model(self._configuration, choice)


def _looked(guidance: Guidance) -> OwnTools:
    """Load the person's own tools and look for what files tell the agent; blocks."""
    guidance.look()
    return load_own_tools(config_dir() / OWN_TOOLS, frozenset(ASSESSORS))


async def _brought_up(sandbox: SandboxManager) -> None:
    """Start the sandbox and its shell while nobody waits for them; why they cannot be is in the log."""
    with suppress(SandboxError):
        await sandbox.start()
        await sandbox.shell(":", on_output=lambda stream, text: None)


def _slots() -> dict[str, str]:
    today = datetime.now().astimezone()
    return {"today": f"{today:%A}, {today:%Y-%m-%d}"}
