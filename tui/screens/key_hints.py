"""The line of keys in a dialog, made from the keys it has now."""

from collections.abc import Collection, Iterable

from textual.binding import Binding
from textual.content import Content

from tui.keys import key_label


def key_hints(bindings: Iterable[Binding], *, hidden: Collection[str] = ()) -> Content:
    """Return "y once  e edit ..." for the bindings that are shown.

    Args:
        bindings: In the order they are shown.
        hidden: Actions that do nothing here.
    """
    parts: list[tuple[str, str] | str] = []
    seen: set[str] = set()
    for binding in bindings:
        if not binding.show or binding.action in hidden or binding.action in seen:
            continue
        seen.add(binding.action)
        parts += [(key_label(binding.key), "bold $text-accent"), f" {binding.description}  "]
    return Content.assemble(*parts)
