"""Parts of an answer whose shape is only hoped for: what is not there is None, what must be there is checked."""

from collections.abc import Mapping
from typing import Any

from deepwell.search.failures import FailureKind, Party


def dig(value: object, path: str) -> Any:
    """What stands at a dotted path, with numbers for places in a list; None when there is nothing. "" is the whole."""
    for step in path.split(".") if path else ():
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and step.isascii() and step.isdigit() and len(step) < 6 and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def records(value: object, path: str, party: Party) -> list[Mapping[str, Any]]:
    """The records listed at the path. Raises NoAnswer when there is no list: then the answer is none we know."""
    listed = dig(value, path)
    if not isinstance(listed, list):
        raise party.no_answer(FailureKind.MALFORMED)
    return [one for one in listed if isinstance(one, Mapping)]


def joined(value: object, mark: str = " … ") -> str:
    """The texts of a list, one after the other; a text as it is; "" for anything else."""
    if isinstance(value, list):
        return mark.join(one for one in value if isinstance(one, str))
    return value if isinstance(value, str) else ""
