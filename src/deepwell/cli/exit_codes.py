"""What a run's end means to the shell."""

from enum import IntEnum

from deepwell.errors import BadRequest, DeepwellError, StoreFailed, Unreadable


class Exit(IntEnum):
    """The exit codes; the README has the same table."""

    REPORT = 0
    DEFECT = 1
    USAGE = 2
    NOTHING_FOUND = 3
    UNREADABLE = 4
    STORE = 6
    INTERRUPTED = 130


def exit_code(error: DeepwellError) -> Exit:
    """The code for an error that was raised on purpose."""
    for kind, code in ((BadRequest, Exit.USAGE), (Unreadable, Exit.UNREADABLE), (StoreFailed, Exit.STORE)):
        if isinstance(error, kind):
            return code
    return Exit.DEFECT
