"""The command line as a test calls it: arguments in, what a shell would see out."""

from collections.abc import Callable
from typing import NamedTuple


class Ended(NamedTuple):
    """How a call ended."""

    code: int
    out: str
    err: str


Call = Callable[..., Ended]
