"""What a run's end means to the shell."""

from enum import IntEnum

from deepwell.errors import AnalystFailed, BadRequest, DeepwellError, Interrupted, StoreFailed, Unreadable


class Exit(IntEnum):
    """The exit codes; the README has the same table."""

    REPORT = 0
    DEFECT = 1
    USAGE = 2
    NOTHING_FOUND = 3
    UNREADABLE = 4
    STORE = 6
    MODEL = 7
    INTERRUPTED = 130


_CODES = (
    (BadRequest, Exit.USAGE),
    (Unreadable, Exit.UNREADABLE),
    (StoreFailed, Exit.STORE),
    (AnalystFailed, Exit.MODEL),
    (Interrupted, Exit.INTERRUPTED),
)


def exit_code(error: DeepwellError) -> Exit:
    """The code for an error that was raised on purpose."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), Exit.DEFECT)
