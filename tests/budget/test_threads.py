"""Work in threads that may never return: nobody has to wait for it, and others get their turn."""

import asyncio
import subprocess
import sys
import threading
from contextvars import ContextVar

import pytest

from deepwell.budget.threads import Size, Threads, in_thread

LANGUAGE: ContextVar[str] = ContextVar("language", default="none")


async def test_what_the_work_gives_comes_back() -> None:
    LANGUAGE.set("en")
    assert await in_thread("other", lambda: LANGUAGE.get()) == "en"
    assert await in_thread("other", pow, 2, 10) == 1024


async def test_an_error_is_raised_where_it_is_waited_for() -> None:
    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await in_thread("other", fail)


async def test_who_is_cancelled_goes_at_once() -> None:
    begun, over = threading.Event(), threading.Event()

    def hang() -> None:
        begun.set()
        over.wait()

    waits = asyncio.create_task(in_thread("other", hang))
    assert await asyncio.to_thread(begun.wait, 10)
    waits.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waits
    over.set()


def test_a_thread_that_was_left_is_replaced() -> None:
    threads, over = Threads("test", Size(at_once=1, most=2)), threading.Event()
    stuck = threads.submit(over.wait)
    second = threads.submit(lambda: "done")
    assert not second.done()
    threads.leave(stuck)
    assert second.result(timeout=10) == "done"
    over.set()


def test_there_are_never_more_than_the_most() -> None:
    threads, over = Threads("test", Size(at_once=1, most=2)), threading.Event()
    stuck = [threads.submit(over.wait), threads.submit(over.wait)]
    threads.leave(stuck[0])
    threads.leave(stuck[1])
    waiting = threads.submit(lambda: "done")
    assert not waiting.running()
    over.set()
    assert waiting.result(timeout=10) == "done"


def test_what_has_not_begun_is_not_done() -> None:
    threads, over, done = Threads("test", Size(at_once=1, most=1)), threading.Event(), []
    stuck = threads.submit(over.wait)
    unwanted = threads.submit(done.append, "unwanted")
    threads.leave(unwanted)
    over.set()
    assert stuck.result(timeout=10)
    assert threads.submit(lambda: "last").result(timeout=10) == "last"
    assert not done


@pytest.mark.parametrize("work", ["in_thread('library', time.sleep, 1000)", "asyncio.to_thread(time.sleep, 1000)"])
def test_a_process_ends_without_its_threads(work: str) -> None:
    script = (
        "import asyncio, time\n"
        "from deepwell.budget.threads import LeavingExecutor, in_thread\n"
        "async def main():\n"
        "    asyncio.get_running_loop().set_default_executor(LeavingExecutor())\n"
        f"    task = asyncio.create_task({work})\n"
        "    await asyncio.sleep(0.05)\n"
        "asyncio.run(main())\n"
        "print('over')\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert (ended.stdout, ended.returncode) == ("over\n", 0), ended.stderr
