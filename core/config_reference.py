"""What each setting is and what it may be, read from `core.config` itself."""

import ast
import inspect
from dataclasses import dataclass
from types import UnionType
from typing import Literal, get_args, get_origin

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
    model = _group(key[:-1])
    if model is None:
        return "a text"
    info = model.model_fields.get(key[-1])
    return _allowed(info) if info else "one of " + ", ".join(model.model_fields)


def _group(key: tuple[str, ...]) -> type[BaseModel] | None:
    model: type[BaseModel] | None = config.Settings
    for name in key:
        info = model.model_fields.get(name) if model else None
        model = _as_group(info.annotation) if info else None
    return model


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
                allowed=_allowed(info),
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


def _allowed(info: FieldInfo) -> str:
    annotation: object = info.annotation
    if _as_group(annotation):
        return "a group of settings"
    if get_origin(annotation) is Literal:
        return ", ".join(str(value) for value in get_args(annotation))
    if get_origin(annotation) is dict:
        return "a table of texts"
    if isinstance(annotation, UnionType):
        annotation = next(part for part in get_args(annotation) if part is not type(None))
    if any(getattr(bound, "pattern", None) for bound in info.metadata):
        return "an address that begins with http:// or https://"
    return _TYPE_NAMES.get(annotation, "a value") + _bounds(info)


def _bounds(info: FieldInfo) -> str:
    text = ""
    for bound in info.metadata:
        if isinstance(bound, Ge):
            text += f" from {bound.ge:,}"
        elif isinstance(bound, Gt):
            text += f" above {bound.gt:,}"
        elif isinstance(bound, Le):
            text += f" up to {bound.le:,}" if " above " in text else f" to {bound.le:,}"
    return text
