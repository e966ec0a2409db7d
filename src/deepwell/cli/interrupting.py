"""Ctrl-C as a wish and then as an order; the end of the terminal or of the machine's patience as an order at once."""

import asyncio
import os
import signal
import sys

from deepwell.cli.view import View

STOPPING = "Stopping: the report is written from what there is. Ctrl-C again quits at once."
ORDERS = (signal.SIGTERM, signal.SIGHUP)
"""Whoever sends these wants the process to be gone, not a report: the run is kept and can be gone on with."""


class TwoStepInterrupt:
    """Ctrl-C once: stop researching and write. Twice, or an order to end: quit."""

    def __init__(self, interrupted: asyncio.Event, view: View, sentence: str = STOPPING) -> None:
        self._interrupted, self._view, self._sentence = interrupted, view, sentence
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._is_ordered = False
        # Asked now: one that is gone does not say any more that it was a terminal.
        self._on_terminal = [stream.fileno() for stream in (sys.stdout, sys.stderr) if stream.isatty()]
        # What is ignored was ignored on purpose: `nohup` does so that a run outlives its terminal.
        self._orders = [order for order in ORDERS if signal.getsignal(order) is not signal.SIG_IGN]

    def __enter__(self) -> None:
        self._loop.add_signal_handler(signal.SIGINT, self._pressed)
        for order in self._orders:
            self._loop.add_signal_handler(order, self._ordered, order)

    def __exit__(self, *_: object) -> None:
        for number in (signal.SIGINT, *self._orders):
            self._loop.remove_signal_handler(number)

    def _pressed(self) -> None:
        if self._interrupted.is_set():
            self._quit()
            return
        self._interrupted.set()
        self._view.say(self._sentence)

    def _ordered(self, order: signal.Signals) -> None:
        if order is signal.SIGHUP:
            self._forget_the_terminal()
        # Said twice it must not disturb the saving.
        if not self._is_ordered:
            self._is_ordered = True
            self._quit()

    def _quit(self) -> None:
        if self._task:
            self._task.cancel()

    def _forget_the_terminal(self) -> None:
        """It is gone: whatever is still printed there would fail."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for place in self._on_terminal:
            os.dup2(nowhere, place)
        os.close(nowhere)
