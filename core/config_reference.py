"""What each setting is and what it may be, read from `core.config` itself."""

import ast
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from core import config

_TYPE_NAMES: dict[object, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingReference:
    """One setting for people."""

    key: str
    """Dotted."""
    default: object
    allowed: str
    about: str


def settings_reference() -> list[SettingReference]:
    """Return all settings in the order they are written in `core.config`."""
    return _group_reference(config.Settings, ())


def group_names(group: tuple[str, ...]) -> list[str]:
    """Return the names a group knows, none for one that does not exist."""
    model = _group(group)
    return list(model.model_fields) if model else []


def allowed_text(key: tuple[str, ...]) -> str:
    """Return what a setting may be, in words."""
    annotation = _annotation(key)
    if annotation is None:
        return "a text"
    if group := _as_group(annotation):
        return f"a group of settings: {', '.join(group.model_fields)}"
    holder = _group(key[:-1])
    info = holder.model_fields.get(key[-1]) if holder else None
    return _allowed(annotation, info.metadata if info else ())


def _group(key: tuple[str, ...]) -> type[BaseModel] | None:
    return _as_group(_annotation(key))


def _annotation(key: tuple[str, ...]) -> object:
    """Return the type of what stands at a key, None where there is no such key."""
    found: object = config.Settings
    for name in key:
        if group := _as_group(found):
            info = group.model_fields.get(name)
            found = info.annotation if info else None
        elif get_origin(found) in (dict, list):
            found = get_args(found)[-1]
        else:
            return None
    return found


def _as_group(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return None


def _group_reference(model: type[BaseModel], prefix: tuple[str, ...]) -> list[SettingReference]:
    abouts = _field_strings(model)
    found: list[SettingReference] = []
    for name, info in model.model_fields.items():
        key = (*prefix, name)
        if group := _as_group(info.annotation):
            found.extend(_group_reference(group, key))
            continue
        found.append(
            SettingReference(
                key=".".join(key),
                default=info.get_default(call_default_factory=True),
                allowed=allowed_value(info),
                about=abouts.get(name, ""),
            )
        )
    return found


def _field_strings(model: type[BaseModel]) -> dict[str, str]:
    body = ast.parse(inspect.getsource(model)).body[0]
    if not isinstance(body, ast.ClassDef):
        return {}
    found: dict[str, str] = {}
    for field, text in zip(body.body, body.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
        ):
            found[field.target.id] = str(text.value.value)
    return found


def _allowed(annotation: object, metadata: Sequence[object]) -> str:
    if _as_group(annotation):
        return "a group of settings"
    if get_origin(annotation) is Annotated:
        annotation, *more = get_args(annotation)
        inner = [bound for info in more for bound in getattr(info, "metadata", ())]
        return _allowed(annotation, [*metadata, *inner])
    if get_origin(annotation) is Literal:
        return ", ".join(str(value) for value in get_args(annotation))
    if get_origin(annotation) in (dict, list):
        return _collection(annotation)
    if isinstance(annotation, UnionType):
        annotation = next(part for part in get_args(annotation) if part is not type(None))
    if any(getattr(bound, "pattern", None) for bound in metadata):
        return "an address that begins with http:// or https://"
    return _TYPE_NAMES.get(annotation, "a value") + _bounds(metadata)


def _collection(annotation: object) -> str:
    """Return what a list may hold, or a table whose names the person chooses."""
    value = get_args(annotation)[-1]
    if get_origin(annotation) is list:
        return f"a list, each {_allowed(value, ())}"
    group = _as_group(value)
    if group is None:
        return f"a table of names, each {_allowed(value, ())}"
    parts = (f"{name} ({allowed_value(info)})" for name, info in group.model_fields.items())
    return f"a table of names, each with {', '.join(parts)}"


def allowed_value(info: FieldInfo) -> str:
    """Return what a field may be, in words."""
    return _allowed(info.annotation, info.metadata)


def _bounds(metadata: Sequence[object]) -> str:
    text = ""
    for bound in metadata:
        if isinstance(bound, Ge):
            text += f" from {bound.ge:,}"
        elif isinstance(bound, Gt):
            text += f" above {bound.gt:,}"
        elif isinstance(bound, Le):
            text += f" up to {bound.le:,}" if " above " in text else f" to {bound.le:,}"
    return text
