"""Ctrl-C as a wish and then as an order."""

import asyncio
import signal

from deepwell.cli.view import View

STOPPING = "Stopping: the report is written from what there is. Ctrl-C again quits at once."


class TwoStepInterrupt:
    """Ctrl-C once: stop researching and write. Twice: quit."""

    def __init__(self, interrupted: asyncio.Event, view: View, sentence: str = STOPPING) -> None:
        self._interrupted, self._view, self._sentence = interrupted, view, sentence
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()

    def __enter__(self) -> None:
        self._loop.add_signal_handler(signal.SIGINT, self._pressed)

    def __exit__(self, *_: object) -> None:
        self._loop.remove_signal_handler(signal.SIGINT)

    def _pressed(self) -> None:
        if self._interrupted.is_set() and self._task:
            self._task.cancel()
            return
        self._interrupted.set()
        self._view.say(self._sentence)
