"""Runs a module of ours in a child process that is killed when its time is up or nobody waits for it any more."""

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE

# What an interpreter may need to start at all. Everything else, keys and proxies above all, stays out.
_KEPT_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME", "TMPDIR")
_GRACE_S = 1.0


async def run_child(module: str, job: bytes, seconds: float) -> bytes:
    """What the module writes when it is given the job. Raises TimeoutError, or OSError when it cannot be started."""
    # -P: the folder we happen to stand in must not provide modules. -B: the child has no files to write.
    command = (sys.executable, "-P", "-B", "-m", module, str(seconds + _GRACE_S))
    environment = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    process = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment, start_new_session=True
    )
    try:
        async with asyncio.timeout(seconds):
            answer, _ = await process.communicate(job)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return answer
