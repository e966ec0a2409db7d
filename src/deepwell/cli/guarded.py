"""The frame around every command: what went wrong is one sentence and a fitting code."""

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Coroutine
from typing import Any

from rich.console import Console

from deepwell.budget.threads import LeavingExecutor
from deepwell.cli.exit_codes import Exit, exit_code
from deepwell.errors import BadRequest, DeepwellError

errors = Console(stderr=True)
output = Console()


def guarded(command: Callable[[], Coroutine[Any, Any, Exit]]) -> Exit:
    """Run a command; what went wrong is one sentence on standard error and a fitting code."""
    try:
        _log_to_file_if_asked()
        code = asyncio.run(_worked_off(command))
        sys.stdout.flush()
    except DeepwellError as error:
        return said(str(error), exit_code(error))
    except (KeyboardInterrupt, asyncio.CancelledError):
        return said("stopped; a run that had begun is kept, and `deepwell resume` goes on with it.", Exit.INTERRUPTED)
    except BrokenPipeError:
        raise
    except OSError as error:
        # What is still in the buffer would fail once more when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        reason = (error.strerror or "unknown error").lower()
        return said(f"The output could not be written ({reason}); `deepwell show last` prints the run.", Exit.STORE)
    return code


async def _worked_off(command: Callable[[], Coroutine[Any, Any, Exit]]) -> Exit:
    """The command, with threads that nobody waits for when it is done."""
    asyncio.get_running_loop().set_default_executor(LeavingExecutor())
    return await command()


def said(sentence: str, code: Exit) -> Exit:
    errors.print(f"deepwell: {sentence}", markup=False, highlight=False, soft_wrap=True)
    return code


def _log_to_file_if_asked() -> None:
    """DEEPWELL_LOG names a file for the program's own log; without it only warnings reach standard error."""
    target = os.environ.get("DEEPWELL_LOG", "").strip()
    if not target:
        return
    try:
        handler = logging.FileHandler(target)
    except OSError:
        raise BadRequest(f"DEEPWELL_LOG names {target}, which cannot be written: name a file that can.") from None
    layout = "%(asctime)s %(levelname)s %(name)s %(message)s"
    logging.basicConfig(handlers=[handler], level=logging.INFO, format=layout)
