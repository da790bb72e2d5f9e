"""A proxy with few open files serves as many clients as fit, and refuses the others at once."""

import asyncio
import resource
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from tests.support.cli.command import KWIRE
from tests.support.cli.proxy_process import ANSWER, ASKED, PATIENCE

CLIENTS, FILES = 200, 256


@asynccontextmanager
async def answering_node() -> AsyncIterator[int]:
    """A node that answers ApiVersions; yield its port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                await reader.readexactly(len(ASKED))
                writer.write(ANSWER)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0, backlog=CLIENTS) as server:
        yield server.sockets[0].getsockname()[1]


async def client(port: int, may_end: asyncio.Event) -> bool:
    """Ask once, and keep the connection; return True for an answer, False for a refusal."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(ASKED)
        answer = await reader.readexactly(len(ANSWER))
        await may_end.wait()
        return answer == ANSWER
    except (ConnectionError, asyncio.IncompleteReadError):
        return False
    finally:
        writer.close()


async def test_as_many_are_served_as_fit() -> None:
    async with answering_node() as node, asyncio.timeout(PATIENCE):
        process = await asyncio.create_subprocess_exec(
            *(str(KWIRE), "proxy", "--listen", f"127.0.0.1:0=127.0.0.1:{node}"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES)),
        )
        assert process.stderr is not None
        line = (await process.stderr.readline()).decode()
        port = int(line.split(" ")[2].rpartition(":")[2])
        may_end = asyncio.Event()
        clients = [asyncio.create_task(client(port, may_end)) for _ in range(CLIENTS)]
        try:
            refused = 0
            while refused < CLIENTS // 3:
                done, _ = await asyncio.wait(clients, timeout=0.2)
                refused = len(done)
            # The refusal is at once: nobody is let in and dropped later.
            await asyncio.sleep(1.0)
            waiting = [task for task in clients if not task.done()]
            may_end.set()
            served = sum(await asyncio.gather(*clients))
        finally:
            process.terminate()
            out, _ = await process.communicate()
        assert served == len(waiting) >= 90
        assert process.returncode == 0
        assert f"refused: all but 32 of {FILES} open files are needed: the limit" in out.decode()


def test_the_limit_is_raised_as_far_as_the_system_allows() -> None:
    program = (
        "import resource as r; from kwire.operating_system import open_files_limit,"
        " raise_open_files_limit as up; r.setrlimit(r.RLIMIT_NOFILE, (100, 300));"
        " up(200); a = open_files_limit(); up(1000); print(a, open_files_limit())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == ["200", "300"], done.stderr
