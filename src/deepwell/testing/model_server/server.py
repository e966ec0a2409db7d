"""The server's life: a thread with an event loop of its own, from the first connection to the last."""

import asyncio
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from types import TracebackType
from typing import NamedTuple, Self

from deepwell.testing.model_server.colleague import Colleague
from deepwell.testing.model_server.exchanges import Exchange, ExchangeLog
from deepwell.testing.model_server.faults import Fault
from deepwell.testing.model_server.replies import Abilities, Ability
from deepwell.testing.model_server.service import Behaviour, Script, Service

_BACKLOG = 256


class _Running(NamedTuple):
    loop: asyncio.AbstractEventLoop
    stop: asyncio.Event
    port: int


class ModelServer:
    """A model behind the OpenAI interface on a loopback port, for as long as the `with` block lasts.

    Works in sync and async code alike. An error that the script raises ends the connection and is raised again when
    the server closes.
    """

    def __init__(
        self,
        script: Script | None = None,
        *,
        latency_s: float = 0.0,
        faults: Sequence[Fault] = (),
        tools: Ability = True,
        json_schema: Ability = True,
        context_tokens: int | None = None,
        model: str = "colleague",
        on_request: Callable[[int, str], None] | None = None,
    ) -> None:
        """`on_request` is told number and purpose of every request as it comes in, before anything is answered."""
        self._log = ExchangeLog()
        abilities = Abilities(tools, json_schema)
        behaviour = Behaviour(script or Colleague(), model, latency_s, tuple(faults), abilities, context_tokens)
        self._service = Service(behaviour, self._log, on_request)
        self._connections: dict[asyncio.Task[None], socket.socket] = {}
        self._errors: list[BaseException] = []
        self._thread: threading.Thread | None = None
        self._running: _Running | None = None
        self.model = model

    def __enter__(self) -> Self:
        ready: Future[_Running] = Future()
        listening = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
        self._thread = threading.Thread(target=self._run, args=(listening, ready), name="model-server", daemon=True)
        self._thread.start()
        self._running = ready.result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if error is None and self._errors:
            raise self._errors[0]

    @property
    def base_url(self) -> str:
        """Where a client finds the interface. The server must have been entered."""
        if self._running is None:
            raise RuntimeError("The server runs only inside its with block.")
        return f"http://127.0.0.1:{self._running.port}/v1"

    @property
    def log(self) -> tuple[Exchange, ...]:
        """The exchanges that are over, in order of arrival. A hanging one is over when a side has closed it."""
        return self._log.ended()

    def purposes(self) -> tuple[str, ...]:
        """What the requests were for, in order of arrival."""
        return tuple(exchange.purpose for exchange in self.log)

    def wait_for_requests(self, count: int, timeout_s: float = 5.0) -> None:
        """Return when so many requests have come in, answered or not. Raises TimeoutError."""
        self._log.wait_for(count, timeout_s)

    def close(self) -> None:
        """End every connection, hanging ones too, and the thread. The log stays."""
        if self._thread is None or self._running is None:
            return
        self._running.loop.call_soon_threadsafe(self._running.stop.set)
        self._thread.join()
        self._thread = None

    def _run(self, listening: socket.socket, ready: Future[_Running]) -> None:
        with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
            runner.run(self._serve(listening, ready))

    async def _serve(self, listening: socket.socket, ready: Future[_Running]) -> None:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        with listening:
            listening.setblocking(False)
            # Not asyncio.start_server: one that closes loses the sockets of connections it is just accepting.
            loop.add_reader(listening, self._accept, listening)
            ready.set_result(_Running(loop, stop, listening.getsockname()[1]))
            await stop.wait()
            loop.remove_reader(listening)
        for task in self._connections:
            task.cancel()
        if self._connections:
            await asyncio.wait(self._connections)

    def _accept(self, listening: socket.socket) -> None:
        with suppress(BlockingIOError, ConnectionAbortedError):  # the client has thought better of it
            connection, _ = listening.accept()
            task = asyncio.get_running_loop().create_task(self._converse(connection))
            self._connections[task] = connection
            task.add_done_callback(self._over)

    async def _converse(self, connection: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=connection)
        try:
            with suppress(ConnectionError):  # the client has gone: nothing is left to say
                await self._service.converse(reader, writer)
                writer.close()
                await writer.wait_closed()
        finally:
            writer.transport.abort()

    def _over(self, task: asyncio.Task[None]) -> None:
        self._connections.pop(task).close()
        if not task.cancelled() and (error := task.exception()):
            self._errors.append(error)
