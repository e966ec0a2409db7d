"""A server's life: a thread with an event loop of its own, from the first connection to the last."""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import NamedTuple

Converse = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
"""Holds one conversation; the connection is closed when it returns."""


class _Running(NamedTuple):
    loop: asyncio.AbstractEventLoop
    stop: asyncio.Event


class Loopback:
    """Converses with everybody who connects to the listening sockets, all at the same time, until it is closed."""

    def __init__(self, listening: Sequence[tuple[socket.socket, Converse]], name: str) -> None:
        self._listening = tuple(listening)
        self._connections: dict[asyncio.Task[None], socket.socket] = {}
        self.errors: list[BaseException] = []
        """What conversations have raised that was no end of a connection."""
        ready: Future[_Running] = Future()
        self._thread = threading.Thread(target=self._run, args=(ready,), name=name, daemon=True)
        self._thread.start()
        self._running = ready.result()

    def close(self) -> None:
        """End every connection, hanging ones too, and the thread."""
        if self._thread.is_alive():
            self._running.loop.call_soon_threadsafe(self._running.stop.set)
            self._thread.join()

    def _run(self, ready: Future[_Running]) -> None:
        with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
            runner.run(self._serve(ready))

    async def _serve(self, ready: Future[_Running]) -> None:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        for listening, converse in self._listening:
            listening.setblocking(False)
            # Not asyncio.start_server: one that closes loses the sockets of connections it is just accepting.
            loop.add_reader(listening, self._accept, listening, converse)
        ready.set_result(_Running(loop, stop))
        await stop.wait()
        for listening, _ in self._listening:
            loop.remove_reader(listening)
            listening.close()
        for task in self._connections:
            task.cancel()
        if self._connections:
            await asyncio.wait(self._connections)

    def _accept(self, listening: socket.socket, converse: Converse) -> None:
        with suppress(BlockingIOError, ConnectionAbortedError):  # the client has thought better of it
            connection, _ = listening.accept()
            task = asyncio.get_running_loop().create_task(_hold(connection, converse))
            self._connections[task] = connection
            task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._connections.pop(task).close()
        if not task.cancelled() and (error := task.exception()):
            self.errors.append(error)


async def _hold(connection: socket.socket, converse: Converse) -> None:
    reader, writer = await asyncio.open_connection(sock=connection)
    try:
        with suppress(ConnectionError):  # the client has gone: nothing is left to say
            await converse(reader, writer)
            writer.close()
            await writer.wait_closed()
    finally:
        writer.transport.abort()
