"""The client's process: what is kept of it, and that nothing of it stays."""

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from kwire.conform.clients.play import ProgramEnd
from kwire.conform.clients.program import ProgramNotStarted, run_program


async def _run(code: str, limit: float = 30.0) -> ProgramEnd:
    return await run_program([sys.executable, "-c", code], limit=limit)


async def test_its_end_and_its_lines_are_kept() -> None:
    end = await _run("import sys; print('acknowledged r0'); print('why', file=sys.stderr); exit(3)")
    assert (end.exit_code, end.lines, end.errors) == (3, ("acknowledged r0",), "why\n")


async def test_one_that_does_not_end_is_killed_with_its_children(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    code = (
        "import subprocess, sys\n"
        f"child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(pid)!r}, 'w').write(str(child.pid))\n"
        "print('begun', flush=True)\nchild.wait()"
    )
    began = time.monotonic()
    end = await _run(code, limit=3.0)
    assert end.exit_code is None
    assert time.monotonic() - began < 20
    await asyncio.to_thread(_await_end, int(pid.read_text()))


def _await_end(pid: int) -> None:
    """Wait until a process runs no more, collected or not. Fails after 10 s."""
    end = time.monotonic() + 10
    stat = Path(f"/proc/{pid}/stat")
    while stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < end, "it still runs"
        time.sleep(0.05)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process's memory")
async def test_its_memory_is_that_of_its_largest_process() -> None:
    end = await _run("import time; block = bytearray(200 << 20); time.sleep(1.0)")
    assert end.memory is not None
    assert end.memory > 200 << 20


async def test_endless_lines_take_no_memory() -> None:
    end = await _run("import os\nwhile True: os.write(1, b'x' * 65536)", limit=2.0)
    assert sum(map(len, end.lines)) <= 1 << 20


async def test_a_command_that_is_not_there_is_named() -> None:
    with pytest.raises(ProgramNotStarted, match="cannot start no-such-client"):
        await run_program(["no-such-client"], limit=1.0)


def _await_text(file: Path) -> None:
    """Wait until a file has text. Fails after 10 s."""
    end = time.monotonic() + 10
    while not file.exists() or not file.read_text():
        assert time.monotonic() < end, f"{file} stays empty"
        time.sleep(0.02)


async def test_a_cancelled_run_leaves_no_process(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    code = f"import os, time; open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    task = asyncio.create_task(_run(code))
    await asyncio.to_thread(_await_text, pid)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
