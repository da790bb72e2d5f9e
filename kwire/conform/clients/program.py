"""The client's process: started for a case, read, measured, ended with all that it has started."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from kwire.conform.clients.play import ProgramEnd
from kwire.errors import LocalError
from kwire.text.untrusted import harmless

_PRINTED = 1 << 20
"""Bytes of each of its outputs that are kept: the first of standard output, the last of errors."""
_LOOK = 0.2
"""Seconds between two looks at its memory."""
_CHUNK = 1 << 16


class ProgramNotStarted(LocalError):
    """The command of --exec cannot be started."""


async def run_program(
    command: Sequence[str], *, limit: float, environment: Mapping[str, str] | None = None
) -> ProgramEnd:
    """Run a command to its end, at the most for `limit` seconds. Raises ProgramNotStarted."""
    began = time.monotonic()
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            env={**os.environ, **(environment or {})},
            start_new_session=True,  # to end what it has started, too
        )
    except (OSError, ValueError) as error:
        raise ProgramNotStarted(f"cannot start {harmless(command[0])}: {error}") from error
    printed, errors, memory = bytearray(), bytearray(), _Memory(process.pid)
    work = [
        asyncio.create_task(_read(process.stdout, printed, first=True)),
        asyncio.create_task(_read(process.stderr, errors, first=False)),
        asyncio.create_task(memory.watch()),
    ]
    try:
        exit_code = await _end(process, limit)
    finally:
        _kill(process)
        # Whoever it has started may hold its outputs open for ever, if it left the session.
        await asyncio.wait(work[:2], timeout=1.0)
        for task in work:
            task.cancel()
        await asyncio.gather(*work, return_exceptions=True)
        await process.wait()
    return ProgramEnd(
        exit_code=exit_code,
        lines=tuple(bytes(printed).decode(errors="replace").splitlines()),
        errors=bytes(errors).decode(errors="replace"),
        memory=memory.most,
        seconds=time.monotonic() - began,
    )


async def _end(process: Process, limit: float) -> int | None:
    try:
        async with asyncio.timeout(limit):
            return await process.wait()
    except TimeoutError:
        return None


def _kill(process: Process) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


async def _read(stream: asyncio.StreamReader | None, kept: bytearray, *, first: bool) -> None:
    """Read to the end, and keep the first bytes or the last."""
    assert stream is not None
    while data := await stream.read(_CHUNK):
        kept += data
        if len(kept) > _PRINTED:
            kept[:] = kept[:_PRINTED] if first else kept[-_PRINTED:]


class _Memory:
    """The largest memory of one of a process's tree, as Linux tells it. most: None elsewhere."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.most: int | None = None

    async def watch(self) -> None:
        """Look again and again."""
        while True:
            for pid in self._tree(self._pid):
                self._look(pid)
            await asyncio.sleep(_LOOK)

    def _look(self, pid: int) -> None:
        with suppress(OSError, ValueError, IndexError):
            status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
            peak = int(status.partition("VmHWM:")[2].split()[0]) * 1024
            self.most = max(self.most or 0, peak)

    def _tree(self, pid: int) -> list[int]:
        found = [pid]
        with suppress(OSError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                for child in (task / "children").read_text(encoding="ascii").split():
                    found += self._tree(int(child))
        return found
