"""What a call that reaches the web, or acts on a page, would do."""

import ipaddress
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from core.address import (
    METADATA_ADDRESSES,
    WebAddress,
    is_local_name,
    parse_web_address,
    why_not_public,
)
from core.assessment import Assessment, Case, Finding, Situation, Subject
from core.errors import EgressDeniedError
from core.final_words import is_final_name
from core.private_hosts import HOW_TO_OPEN, is_opened
from core.private_text import carried_from
from core.reach import Target

SUBMIT_KEYS: Final = ("enter", "return")
TYPING_LIMIT: Final = 200
"""Characters of typed text that are shown as part of a call."""

Finder: TypeAlias = Callable[[Case], tuple[Finding, ...]]


def assess_browser(case: Case) -> Assessment:
    """Assess one browser action."""
    action = case.text("action").strip().lower()
    finder = FINDERS.get(action, _unknown)
    findings = finder(case)
    title = case.facts.title or f"browser: {action} {case.facts.origin}".strip()
    return _result(case, findings, title, action)


def assess_fetch(case: Case) -> Assessment:
    """Assess `fetch_page`: every address counts."""
    urls = case.arguments.get("urls", case.arguments.get("url", ()))
    texts = (
        [urls] if isinstance(urls, str) else list(urls) if isinstance(urls, (list, tuple)) else []
    )
    findings = tuple(finding for url in texts for finding in open_findings(str(url), case)) or (
        Finding("navigate"),
    )
    return _result(case, findings, case.facts.title or "reads web pages", "navigate")


def assess_search(case: Case) -> Assessment:
    """Assess `web_search`: the query leaves the machine."""
    findings = _search(case)
    return _result(case, findings, case.facts.title or "searches the web", "search")


def open_findings(url: str, case: Case) -> tuple[Finding, ...]:
    """Return the rows for opening an address."""
    if url.strip().lower() == "about:blank":
        return (Finding("look", url),)
    try:
        address = parse_web_address(url)
    except EgressDeniedError as error:
        return (Finding("navigate_private", url, error.message),)
    problem = _not_public(address, case)
    if problem:
        return (Finding("navigate_private", url, f"{address.host} is {problem}"),)
    found = [Finding("navigate", address.origin)]
    situation = case.situation
    source = carried_from(url, situation.taint)
    if source:
        found.append(Finding("sends_private", address.origin, f"to {address.host}, from {source}"))
    if situation.hosts_listed:
        found.append(Finding("navigate_unlisted", address.origin))
    elif situation.tainted and _is_new(address, situation):
        found.append(Finding("navigate_new", address.origin))
    return tuple(found)


def _not_public(address: WebAddress, case: Case) -> str:
    """Return why an address is none of the public web, "" when it is or when the person opened it."""
    if not 0 < address.port < 65536:
        return "no place that can be reached"
    if is_opened(case.situation.private_allowed, address.host, address.port):
        return ""
    problem = _kind_of_place(address, case)
    if not problem or address.host in METADATA_ADDRESSES:
        return problem
    return f"{problem}. {HOW_TO_OPEN}"


def _kind_of_place(address: WebAddress, case: Case) -> str:
    """Return what an address is that is none of the public web, "" for one that is."""
    known = [part for part in case.facts.bindings.get("addresses", "").split(",") if part]
    if _is_ip(address.host):
        known = [address.host]
    elif is_local_name(address.host):
        return "a name of this machine or network"
    for candidate in known:
        problem = why_not_public(candidate)
        if problem:
            return f"a {problem} address"
    return ""


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_new(address: WebAddress, situation: Situation) -> bool:
    """Return whether neither the session nor the person knows the host."""
    if is_opened(situation.private_allowed, address.host, address.port):
        return False
    known = {_bare(_host_of(origin)) for origin in situation.visited}
    host = _bare(address.host)
    if host in known:
        return False
    said = " ".join(item.text for item in situation.taint if item.origin == "user").casefold()
    return f" {host} " not in f" {_only_hosts(said)} "


def _only_hosts(text: str) -> str:
    words = (_bare(_host_of(word).strip(".,;:!?()[]<>\"'")) for word in text.split())
    return " ".join(words)


def _host_of(text: str) -> str:
    rest = text.partition("://")[2] or text
    return rest.partition("/")[0].partition(":")[0].casefold()


def _bare(host: str) -> str:
    return host.removeprefix("www.")


def _open(case: Case) -> tuple[Finding, ...]:
    url = case.text("url")
    return open_findings(url, case) if url else (Finding("look"),)


def _search(case: Case) -> tuple[Finding, ...]:
    query = case.text("query") or case.text("text")
    source = carried_from(query, case.situation.taint)
    found = Finding("web_search", query[:TYPING_LIMIT])
    if source:
        return (found, Finding("sends_private", query[:TYPING_LIMIT], f"in a query, from {source}"))
    return (found,)


def _look(case: Case) -> tuple[Finding, ...]:
    return (Finding("look"),)


def _click(case: Case) -> tuple[Finding, ...]:
    element = case.facts.element
    if element is None:
        return (Finding("unreadable", detail="the element is not known"),)
    shown = f"{element.role} {element.name!r}"
    if is_final_name(element.name) or _submits(case):
        return (Finding("final_action", shown),)
    if element.href and (element.role == "link" or element.tag == "a"):
        return (Finding("click_link", shown), *_follow(element.href, case))
    if element.role == "link" or element.tag == "summary":
        return (Finding("click_link", shown),)
    return (Finding("page_input", shown),)


def _follow(href: str, case: Case) -> tuple[Finding, ...]:
    """Return the rows for where a link leads, when that is another site."""
    scheme = href.partition(":")[0].strip().lower() if ":" in href else ""
    if scheme not in ("http", "https"):
        plain = (
            not scheme or not scheme.replace("+", "").replace("-", "").replace(".", "").isalnum()
        )
        return (
            ()
            if plain or "/" in scheme
            else (Finding("navigate_private", href, f"a {scheme}: link"),)
        )
    found = open_findings(href, case)
    return tuple(finding for finding in found if finding.row != "navigate")


def _submits(case: Case) -> bool:
    """Return whether acting on the element would submit a form that is no plain search."""
    element = case.facts.element
    if element is None:
        return True
    return element.submits and element.form_method.lower() != "get"


def _type(case: Case) -> tuple[Finding, ...]:
    element = case.facts.element
    if element is not None and (element.secret or element.input_type.lower() == "password"):
        return (Finding("secret_field", element.name),)
    text = case.text("text")
    found = [Finding("page_input", element.name if element else text[:TYPING_LIMIT])]
    if _given(case, "submit") and (_submits_by_enter(case) or "\n" in text):
        found.append(Finding("final_action", detail="Enter submits"))
    elif "\n" in text and element is not None and element.tag == "input":
        found.append(Finding("final_action", detail="a newline submits"))
    source = carried_from(text, case.situation.taint)
    if source:
        found.append(Finding("sends_private", detail=f"to {case.facts.origin}, from {source}"))
    return tuple(found)


def _submits_by_enter(case: Case) -> bool:
    """Return whether Enter in the element may be final: not in a form that only asks the server."""
    element = case.facts.element
    if element is None:
        return True
    searching = element.role == "searchbox" or element.input_type.lower() == "search"
    return not searching and element.form_method.lower() != "get"


def _press(case: Case) -> tuple[Finding, ...]:
    keys = (case.text("text") or case.text("key") or case.text("keys")).lower()
    if any(key in keys for key in SUBMIT_KEYS) and _submits_by_enter(case):
        return (Finding("final_action", detail=f"presses {keys}"),)
    if keys in ("space", " ") or any(key in keys for key in SUBMIT_KEYS):
        return _click(case) if case.facts.element else (Finding("page_input", keys),)
    return (Finding("page_input", keys),)


def _choose(case: Case) -> tuple[Finding, ...]:
    element = case.facts.element
    if element is not None and element.secret:
        return (Finding("secret_field", element.name),)
    return (Finding("page_input", element.name if element else ""),)


def _dialog(case: Case) -> tuple[Finding, ...]:
    if not _given(case, "accept"):
        return (Finding("look", "closes a dialog of the page"),)
    return (Finding("final_action", detail="answers a dialog of the page with yes"),)


def _upload(case: Case) -> tuple[Finding, ...]:
    paths = case.arguments.get("paths", case.arguments.get("path", ()))
    texts = (
        [paths]
        if isinstance(paths, str)
        else list(paths)
        if isinstance(paths, (list, tuple))
        else []
    )
    targets = [case.situation.reach.resolve(str(path)) for path in texts]
    return tuple(_upload_finding(target) for target in targets) or (Finding("upload_outside"),)


def _upload_finding(target: Target) -> Finding:
    inside = (
        target.place == "workspace" and not target.linked and not target.names & {"secret", "own"}
    )
    return Finding("upload" if inside else "upload_outside", target.shown)


def _script(case: Case) -> tuple[Finding, ...]:
    return (Finding("page_script"),)


def _download(case: Case) -> tuple[Finding, ...]:
    return (Finding("download", case.text("url")),)


def _unknown(case: Case) -> tuple[Finding, ...]:
    return (Finding("unknown", case.text("action")),)


def _given(case: Case, name: str) -> bool:
    return case.arguments.get(name) not in (None, False, 0, "")


FINDERS: Final[Mapping[str, Finder]] = {
    **dict.fromkeys(
        ("go_to", "navigate", "go_to_url", "goto", "open", "new_tab", "open_tab"), _open
    ),
    **dict.fromkeys(
        (
            "read",
            "read_text",
            "inspect",
            "query",
            "extract",
            "extract_content",
            "screenshot",
            "snapshot",
            "list_tabs",
            "scroll",
            "scroll_down",
            "scroll_up",
            "scroll_to_text",
            "back",
            "forward",
            "reload",
            "go_back",
            "return_to_previous_tab",
            "wait",
            "hover",
            "switch_tab",
            "close_tab",
            "close",
            "get_dropdown_options",
            "hand_over",
        ),
        _look,
    ),
    **dict.fromkeys(
        (
            "click",
            "click_element",
            "double_click",
            "click_and_wait_for_navigation",
            "click_at",
            "drag",
        ),
        _click,
    ),
    **dict.fromkeys(("type", "fill", "paste", "input_text"), _type),
    **dict.fromkeys(("press_key", "send_keys", "press"), _press),
    **dict.fromkeys(
        ("select_option", "select_dropdown_option", "select", "check", "uncheck"), _choose
    ),
    **dict.fromkeys(("upload", "upload_files"), _upload),
    **dict.fromkeys(("evaluate", "run_script"), _script),
    "download": _download,
    "handle_dialog": _dialog,
    "web_search": _search,
}
"""By action name."""


def _result(case: Case, findings: tuple[Finding, ...], title: str, action: str) -> Assessment:
    parts = case.facts.parts or tuple(
        dict.fromkeys(finding.part for finding in findings if finding.part)
    )
    return Assessment(
        subject=Subject(
            tool=case.tool,
            origin=_origin(case),
            action=action,
        ),
        title=title,
        findings=findings,
        parts=parts,
    )


def _origin(case: Case) -> str:
    """Return the origin a call goes to, or acts on."""
    try:
        return parse_web_address(case.text("url")).origin if case.text("url") else case.facts.origin
    except EgressDeniedError:
        return ""
