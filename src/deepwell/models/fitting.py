"""Fits what a model wrote into a pydantic type: lenient where it does no harm, strict about what is essential."""

import re
import types
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import cache
from itertools import islice
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from deepwell.models.json_repair import values_in
from deepwell.models.scalars import SCALARS, Unfit, chosen, is_null, is_schema, plain

T = TypeVar("T", bound=BaseModel)

MOST_TRIED: Final = 50
"""Objects in one reply that are tried as the one that was asked for."""
_WRAPPERS: Final = frozenset(
    "properties arguments parameters args params input function toolcalls response result output json data".split()
)
_ABSENT: Final = object()
_SCHEMA: Final = "repeats the schema instead of filling it in"


def best_fit(fields: type[T], values: Sequence[object], name: str) -> T:
    """The object in these values that has most of the fields, filled in; between equals, the later one.

    Models wrap the object in all kinds of things, one of them being an object with the form's name. Raises Unfit.
    """
    candidates = [
        _Candidate(given, (fields_known(fields, given), place, -depth))
        for place, value in enumerate(values)
        for given, depth in islice(_objects(fields, value, plain(name), 0), MOST_TRIED)
    ]
    first = Unfit("holds no JSON object")
    for number, candidate in enumerate(sorted(candidates, key=lambda one: one.rank, reverse=True)):
        try:
            return _filled(fields, candidate.given, 0)
        except Unfit as unfit:
            first = unfit if number == 0 else first
    raise first


def arguments_fit(fields: type[T], arguments: object, name: str) -> T:
    """The arguments of a call to a tool of this name; a tool that needs none may be called with anything."""
    if isinstance(arguments, str) and arguments.lstrip()[:1] not in ("{", "["):
        arguments = {next(iter((*_required(fields), *fields.model_fields)), ""): arguments}
    try:
        return best_fit(fields, [arguments], name)
    except Unfit as unfit:
        if _required(fields) or unfit.problem == _SCHEMA:
            raise
        return _validated(fields, {})


def fields_known(fields: type[BaseModel], given: Mapping[str, Any]) -> int:
    """How many of the type's fields are given."""
    return len(_names(fields).intersection(map(plain, given)))


# Which object is meant


@dataclass(frozen=True, slots=True)
class _Candidate:
    given: Mapping[str, Any]
    rank: tuple[int, int, int]
    """How many fields, how late, how far outside."""


def _objects(fields: type[BaseModel], value: object, name: str, depth: int) -> Iterable[tuple[Mapping[str, Any], int]]:
    """The objects that may be the one asked for: this one, those wrapped in it, those in a list."""
    if isinstance(value, Mapping):
        yield value, depth
    elif isinstance(value, list):
        yield from _unlisted(fields, value, depth)
    for inner in islice(_wrapped(fields, value, name), MOST_TRIED) if depth < 4 else ():
        yield from _objects(fields, inner, name, depth + 1)


def _wrapped(fields: type[BaseModel], value: object, name: str) -> Iterable[object]:
    if isinstance(value, str):
        return (one.value for one in values_in(value))
    if isinstance(value, list):
        return value
    if not isinstance(value, Mapping):
        return ()
    anything = fields_known(fields, value) == 0
    return (inner for key, inner in value.items() if anything or plain(key) in _WRAPPERS or plain(key) == name)


def _unlisted(fields: type[BaseModel], items: list[Any], depth: int) -> Iterable[tuple[Mapping[str, Any], int]]:
    """The list as the field it was meant for, when it is the items of one and not a list of the objects asked for."""
    first = next((item for item in items if isinstance(item, Mapping)), None)
    if first is None or fields_known(fields, first):
        return
    for name, field in fields.model_fields.items():
        inner = _item_type(field.annotation)
        if _is_model(inner) and fields_known(inner, first):
            yield {name: items}, depth


# Filling in an object


def _filled(fields: type[T], given: Mapping[str, Any], depth: int) -> T:
    _refuse_schema(fields, given)
    if given and fields.model_fields and not fields_known(fields, given):
        raise Unfit("is missing", next(iter(_required(fields)), next(iter(fields.model_fields))))
    by_name = {plain(key): value for key, value in given.items()} | dict(given)
    values: dict[str, Any] = {}
    for name, field in fields.model_fields.items():
        value = _given(by_name, name, field)
        if value is _ABSENT:
            continue
        try:
            values[_key(name, field)] = _fitted(field.annotation, value, depth + 1)
        except Unfit as unfit:
            if field.is_required():
                raise unfit.within(name) from None
    return _validated(fields, values)


def _given(by_name: Mapping[str, Any], name: str, field: FieldInfo) -> Any:
    for spelling in (name, _key(name, field), plain(name), plain(_key(name, field))):
        if spelling in by_name:
            value = by_name[spelling]
            return _ABSENT if is_null(value) and not field.is_required() else value
    if field.is_required():
        raise Unfit("is missing", name)
    return _ABSENT


def _validated(fields: type[T], values: dict[str, Any]) -> T:
    """The object; what its type's own rules refuse is left out where it can be."""
    for _ in range(2):
        try:
            return fields.model_validate(values)
        except ValidationError as error:
            values = _without_refused(fields, values, error)
    try:
        return fields.model_validate(values)
    except ValidationError as error:
        raise Unfit(f"is not as it should be: {error.errors(include_url=False)[0]['msg']}") from None


def _without_refused(fields: type[BaseModel], values: dict[str, Any], error: ValidationError) -> dict[str, Any]:
    kept = dict(values)
    refused_items: dict[str, set[int]] = {}
    for one in error.errors(include_url=False, include_context=False, include_input=False):
        name, *inside = one["loc"] or ("",)
        if inside and isinstance(inside[0], int) and isinstance(values.get(str(name)), list):
            refused_items.setdefault(str(name), set()).add(inside[0])
        elif str(name) in _optional_keys(fields):
            kept.pop(str(name), None)
        else:
            raise Unfit(f"is not as it should be: {one['msg']}", str(name)) from None
    for name, places in refused_items.items():
        kept[name] = [item for place, item in enumerate(values[name]) if place not in places]
    return kept


def _refuse_schema(fields: type[BaseModel], given: Mapping[str, Any]) -> None:
    ours = [value for key, value in given.items() if plain(key) in _names(fields)]
    described = 2 * sum(map(is_schema, ours)) > len(ours) if ours else is_schema(given)
    if described or (is_schema(given) and isinstance(given.get("properties"), Mapping)):
        raise Unfit(_SCHEMA)


@cache
def _names(fields: type[BaseModel]) -> frozenset[str]:
    keys = (key for name, field in fields.model_fields.items() for key in (name, _key(name, field)))
    return frozenset(map(plain, keys))


def _required(fields: type[BaseModel]) -> list[str]:
    return [name for name, field in fields.model_fields.items() if field.is_required()]


def _optional_keys(fields: type[BaseModel]) -> set[str]:
    return {_key(name, field) for name, field in fields.model_fields.items() if not field.is_required()}


def _key(name: str, field: FieldInfo) -> str:
    """What pydantic calls the field when it reads."""
    return field.validation_alias if isinstance(field.validation_alias, str) else name


# Fitting one value to one type


def _fitted(wanted: Any, value: Any, depth: int) -> Any:
    if depth > MOST_TRIED:
        raise Unfit("is nested too deeply")
    origin, arguments = get_origin(wanted), get_args(wanted)
    if origin is Annotated:
        return _fitted(arguments[0], value, depth)
    if origin in (Union, types.UnionType):
        return _one_of(arguments, value, depth)
    if origin is Literal:
        return chosen({str(choice): choice for choice in arguments}, value)
    if _item_type(wanted) is not None:
        return _list(_item_type(wanted), value, depth)
    if origin in (dict, Mapping) or wanted is dict:
        return _mapping(arguments, value, depth)
    if isinstance(wanted, type):
        return _of_class(wanted, value, depth)
    return value


def _of_class(wanted: type, value: Any, depth: int) -> Any:
    if issubclass(wanted, BaseModel):
        return _model(wanted, value, depth)
    if issubclass(wanted, Enum):
        return chosen({str(one.value): one for one in wanted} | {one.name: one for one in wanted}, value)
    scalar = SCALARS.get(wanted)
    return scalar(value) if scalar else value


def _one_of(choices: Sequence[Any], value: Any, depth: int) -> Any:
    if type(None) in choices and (is_null(value) or value == ""):
        return None
    others = [choice for choice in choices if choice is not type(None)]
    others.sort(key=lambda choice: not (isinstance(choice, type) and isinstance(value, choice)))
    failed = Unfit("has the wrong type")
    for choice in others:
        try:
            return _fitted(choice, value, depth + 1)
        except Unfit as unfit:
            failed = unfit
    raise failed


def _list(wanted: Any, value: Any, depth: int) -> list[Any]:
    if value is None:
        raise Unfit("is missing")
    items = value if isinstance(value, list) else _as_items(wanted, value)
    fitting = []
    for item in items:
        with suppress(Unfit):
            # Asked for what is missing, models write a list of one item: "None".
            fitting.extend([] if is_null(item) else [_fitted(wanted, item, depth + 1)])
    if items and not fitting:
        raise Unfit("has no item that can be used")
    return fitting


def _as_items(wanted: Any, value: Any) -> list[Any]:
    """What stands where a list should be, as a list."""
    if isinstance(value, str):
        return _items_of_text(wanted, value)
    if isinstance(value, Mapping) and value and all(str(key).isdigit() for key in value):
        return list(value.values())
    if isinstance(value, Mapping) and isinstance(value.get("items"), list):
        return list(value["items"])
    return [value]


def _items_of_text(wanted: Any, value: str) -> list[Any]:
    if not value.strip():
        return []
    read = _read_again(value)
    if isinstance(read, list):
        return read
    return re.findall(r"\d{1,18}", value) if wanted is int else [read]


def _mapping(arguments: Sequence[Any], value: Any, depth: int) -> dict[str, Any]:
    value = _read_again(value)
    if not isinstance(value, Mapping):
        raise Unfit("must be an object")
    wanted = arguments[1] if len(arguments) == 2 else Any
    fitting = {}
    for key, inner in value.items():
        with suppress(Unfit):
            fitting[str(key)] = _fitted(wanted, inner, depth + 1)
    return fitting


def _model(wanted: type[T], value: Any, depth: int) -> T:
    value = _read_again(value)
    if isinstance(value, list):
        value = next((item for item in value if isinstance(item, Mapping)), None)
    if isinstance(value, str) and len(required := _required(wanted)) == 1:
        # A list of questions where a list of objects with a question was wanted.
        value = {required[0]: value}
    if not isinstance(value, Mapping):
        raise Unfit("must be an object")
    return _filled(wanted, value, depth)


def _read_again(value: Any) -> Any:
    """JSON that was written as a string, and is all of it."""
    text = value.strip() if isinstance(value, str) else ""
    if text[:1] not in ("{", "["):
        return value
    return next((one.value for one in values_in(text) if one.start == 0 and one.end == len(text)), value)


# Types


def _item_type(wanted: Any) -> Any:
    """What a list of this type holds; None when it is no list."""
    if wanted in (list, tuple, set, frozenset):
        return Any
    arguments = get_args(wanted)
    origin = get_origin(wanted)
    if origin is tuple and (len(arguments) != 2 or arguments[1] is not Ellipsis):
        return None
    listed = isinstance(origin, type) and issubclass(origin, Iterable) and not issubclass(origin, Mapping | str)
    return arguments[0] if listed and arguments else None


def _is_model(wanted: Any) -> bool:
    return isinstance(wanted, type) and issubclass(wanted, BaseModel)
