"""The shape a reply must have: one filled-in form, calls from a toolbox, or prose."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

T = TypeVar("T", bound=BaseModel)
T_co = TypeVar("T_co", bound=BaseModel, covariant=True)


@dataclass(frozen=True, slots=True)
class Form(Generic[T_co]):
    """One object with these fields. Every field but the essential ones has a default: a reply may leave it out."""

    name: str
    """What the form is called over the wire; letters, digits and underscores."""
    fields: type[T_co]


@dataclass(frozen=True, slots=True)
class Toolbox:
    """One or more calls, each to a tool named here with arguments of its type."""

    name: str
    tools: Mapping[str, type[BaseModel]]


@dataclass(frozen=True, slots=True)
class Prose:
    """Running text in Markdown."""

    name: str = "prose"


Shape = Form[BaseModel] | Toolbox | Prose
