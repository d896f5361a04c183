"""The inside of Markdown paragraphs as styled text: links show their target, pictures are named and never fetched."""

from typing import Final

from markdown_it.tree import SyntaxTreeNode
from textual.content import Content

_STYLES: Final = {"strong": "bold", "em": "italic", "s": "strike"}
_CODE: Final = "$text-accent on $surface"
_TARGET: Final = "$text-muted"


def inline_content(node: SyntaxTreeNode) -> Content:
    """Return the text of a node whose children are inline nodes."""
    pieces: list[tuple[str, str]] = []
    _collect(node, "", pieces)
    return Content.assemble(*pieces) if pieces else Content("")


def _collect(node: SyntaxTreeNode, style: str, pieces: list[tuple[str, str]]) -> None:
    for child in node.children:
        match child.type:
            case "text":
                pieces.append((child.content, style))
            case "code_inline":
                pieces.append((child.content, _CODE))
            case "softbreak":
                pieces.append((" ", style))
            case "hardbreak":
                pieces.append(("\n", style))
            case "link":
                _collect_link(child, style, pieces)
            case "image":
                pieces.append((f"[picture: {child.content or 'no name'}]", style))
                pieces.append((f" ({child.attrs.get('src', '')})", _TARGET))
            case kind if kind in _STYLES:
                _collect(child, f"{style} {_STYLES[kind]}".strip(), pieces)
            case _:
                _collect(child, style, pieces)


def _collect_link(node: SyntaxTreeNode, style: str, pieces: list[tuple[str, str]]) -> None:
    """Add the words of a link and, where they differ, its target: what is clicked must be what is read."""
    start = len(pieces)
    _collect(node, f"{style} underline".strip(), pieces)
    target = str(node.attrs.get("href", ""))
    words = "".join(text for text, _ in pieces[start:])
    if target and target != words and target != f"mailto:{words}":
        pieces.append((f" ({target})", _TARGET))
