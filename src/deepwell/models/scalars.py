"""One text, number, truth or choice as a model may have written it, and what is wrong when it is none."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from deepwell.models.raw_text import printable
from deepwell.models.thinking import without_thinking


class Unfit(Exception):
    """A value does not fit its type."""

    def __init__(self, problem: str, field: str = "") -> None:
        super().__init__(problem, field)
        self.problem, self.field = problem, field

    @property
    def sentence(self) -> str:
        """What is wrong, said to the model."""
        return f"The field `{self.field}` {self.problem}." if self.field else f"The reply {self.problem}."

    def within(self, field: str) -> "Unfit":
        """The same, seen from the object around it."""
        return Unfit(self.problem, f"{field}.{self.field}" if self.field else field)


def plain(name: object) -> str:
    """A name without what models are careless about: case, underscores, hyphens, blanks."""
    return re.sub(r"[\W_]+", "", str(name)).lower()


def chosen(choices: Mapping[str, Any], value: Any) -> Any:
    """The choice that goes by this name, however it is spelled. Raises Unfit."""
    by_name = {plain(name): one for name, one in choices.items()}
    if isinstance(value, str | int | float) and plain(str(value)) in by_name:
        return by_name[plain(str(value))]
    raise Unfit(f"must be one of {', '.join(f'`{name}`' for name in choices)}")


def is_schema(value: object) -> bool:
    """Whether this describes a value rather than being one."""
    if not isinstance(value, Mapping):
        return False
    kind = value.get("type")
    named = isinstance(kind, str) and kind in {"string", "integer", "number", "boolean", "array", "object", "null"}
    return named or any(word in value for word in ("$ref", "$defs", "$schema", "anyOf", "allOf", "oneOf"))


_NULLS: Final = frozenset({"null", "none", "nil", "n/a", "undefined"})
_YES: Final = frozenset({"true", "yes", "y", "1", "on"})
_NO: Final = frozenset({"false", "no", "n", "0", "off"})
_ONE_NUMBER = re.compile(r"(?P<sign>-(?=\d))?\D*+(?P<number>\d{1,18}(?:\.\d{1,18})?)(?P<percent>\s?%)?\D*+")


def is_null(value: object) -> bool:
    """Whether this says that there is no value; an empty text is a value."""
    return value is None or (isinstance(value, str) and value.strip().lower() in _NULLS)


def _text(value: Any) -> str:
    if isinstance(value, Mapping) and len(value) == 1 and not is_schema(value):
        value = next(iter(value.values()))
    if isinstance(value, list) and value and all(isinstance(item, str | int | float) for item in value):
        value = "\n".join(map(_text, value))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    if not isinstance(value, str):
        raise Unfit("is missing" if value is None else "must be text")
    text = without_thinking(printable(value))
    if text.strip() and not text.strip().strip(".…"):
        raise Unfit("holds the dots of the example instead of a value")
    return text


def _truth(value: Any) -> bool:
    word = plain(str(value)) if isinstance(value, str | int | float) else ""
    if word in _YES or word in _NO:
        return word in _YES
    raise Unfit("must be true or false")


def _whole_number(value: Any) -> int:
    number = _number(value)
    if number != int(number):
        raise Unfit("must be a whole number")
    return value if isinstance(value, int) else int(number)


def _number(value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _finite(value)
    short = isinstance(value, str) and len(value) < 100
    found = _ONE_NUMBER.fullmatch(re.sub(r"(?<=\d),(?=\d{3})", "", value.strip())) if short else None
    if found is None:
        raise Unfit("must be a number")
    return float((found["sign"] or "") + found["number"]) / (100 if found["percent"] else 1)


def _finite(value: float) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if number - number != 0:
        raise Unfit("must be a number of usual size")
    return number


SCALARS: Final[Mapping[type, Callable[[Any], object]]] = {str: _text, bool: _truth, int: _whole_number, float: _number}
"""How to read a value of these types. Each raises Unfit."""
