"""The process in which dangerous formats are parsed: jobs on standard input, one JSON answer each on standard output.

Started as `python -m deepwell.reading.worker MEMORY CPU`. It can be killed at any time; it keeps nothing.
"""

import json
import resource
import sys
from contextlib import suppress
from dataclasses import asdict

from deepwell.errors import Unreadable
from deepwell.reading.formats import load_reader
from deepwell.reading.frames import read_frame, write_frame


def main(memory: int, cpu_seconds: int) -> None:
    """Answer jobs until the parent closes the pipe."""
    _confine(memory)
    jobs, answers = sys.stdin.buffer, sys.stdout.buffer
    write_frame(answers, b"ready")
    while (head := read_frame(jobs)) is not None and (data := read_frame(jobs)) is not None:
        _allow_cpu(cpu_seconds)
        reader, name = json.loads(head)
        write_frame(answers, _answer(reader, name, data))


def _answer(reader: str, name: str, data: bytes) -> bytes:
    try:
        answer: dict[str, object] = {"document": asdict(load_reader(reader)(data, name))}
    except Unreadable as error:
        answer = {"unreadable": str(error)}
    except (MemoryError, RecursionError):
        answer = {"unreadable": f"{name} needs more memory to be read than is allowed.", "spent": True}
    return json.dumps(answer).encode()


def _confine(memory: int) -> None:
    """No more memory than this, no files written, no core dumped."""
    limits = ((resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0))
    for kind, value in limits:
        # macOS knows RLIMIT_AS but refuses to lower it; the limits on time still hold there.
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (value, value))


def _allow_cpu(seconds: int) -> None:
    """The limit counts from the start of the process, and this one lives for many jobs: move it ahead of each."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(usage.ru_utime + usage.ru_stime) + 1 + seconds, hard))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
