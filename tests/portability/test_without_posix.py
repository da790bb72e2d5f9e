"""Nothing that only POSIX systems have is needed to import kwire, or for its commands to work."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path

import pytest

import hatch_build
from kwire.codec.engine_choice import available
from kwire.logdir.lock import DirectoryLock
from kwire.testing.quorum import Quorum
from real_kafka import free_port
from tests.support.paths import ROOT
from tests.support.portability import without_posix

SCRIPT = without_posix.__file__
COMMAND = [sys.executable, SCRIPT, "from kwire.cli.main import main; main()"]

IMPORT_ALL = """
import importlib, json, re, sys
from pathlib import Path
failed, root = {}, Path(sys.argv[1])
names = []
for path in sorted((root / "kwire").rglob("*.py")):
    parts = path.relative_to(root).with_suffix("").parts
    names.append(".".join(parts).removesuffix(".__init__"))
names = [name for name in names if re.match(sys.argv[2], name)]
for name in names:
    try:
        importlib.import_module(name)
    except BaseException as error:
        failed[name] = repr(error)
print(json.dumps([len(names), failed]))
"""


NATIVE = tuple(native.module.rpartition(".")[0] for native in hatch_build.NATIVE_MODULES)
"""Packages that cannot be imported without their extension."""


@pytest.mark.parametrize(
    ("modules", "libraries", "least"),
    [
        (r"kwire\.pipeline", "pandas,pyarrow,pyspark.sql", 100),
        (r"kwire\.cli", "platformdirs,textual.app", 100),
        (r"kwire(?!\.pipeline|\.cli)", "", 500),
    ],
    ids=["pipeline", "cli", "others"],
)
def test_every_module_can_be_imported(modules: str, libraries: str, least: int) -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, f"--libraries={libraries}", IMPORT_ALL, str(ROOT), modules],
        capture_output=True,
        text=True,
        check=True,
    )
    count, failed = json.loads(done.stdout.splitlines()[-1])
    if "native" not in available():  # there was no compiler when kwire was installed
        failed = {name: error for name, error in failed.items() if not name.startswith(NATIVE)}
    assert not failed
    assert count >= least


async def start(*arguments: str) -> Process:
    return await asyncio.create_subprocess_exec(*COMMAND, *arguments, stdout=PIPE, stderr=PIPE)


async def run(*arguments: str) -> str:
    """Run a command that succeeds; return what it prints."""
    process = await start(*arguments)
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode()


async def wait_for(process: Process, pattern: str) -> str:
    """The first group of the pattern, once the process has printed it to stderr or stdout."""
    found: asyncio.Queue[str | None] = asyncio.Queue()

    async def read(stream: asyncio.StreamReader | None) -> None:
        assert stream
        async for line in stream:
            found.put_nowait(line.decode())
        found.put_nowait(None)

    reading = [asyncio.create_task(read(one)) for one in (process.stdout, process.stderr)]
    said = ""
    while (line := await found.get()) is not None:
        said += line
        if match := re.search(pattern, said):
            break
    else:
        raise AssertionError(f"it ended without {pattern!r}: {said}")
    for task in reading:
        task.add_done_callback(lambda done: done.exception())
    return match[1]


async def test_messages_are_decoded_and_shown() -> None:
    frame = "0012000400000001 0005 6b77697265 00 066b77697265 04302e31 00"
    assert "ApiVersionsRequest v4" in await run("decode", frame)
    assert "voter_id" in await run(
        "protocol", "show", "VoteRequest", "--version", "1", "--compiled"
    )


async def test_a_proxy_records_and_the_capture_is_read(tmp_path: Path) -> None:
    capture = tmp_path / "quorum.avro"
    async with Quorum(1, folder=tmp_path / "data") as quorum:
        listen = f"127.0.0.1:0={quorum.bootstrap_controllers}"
        proxy = await start("proxy", "--listen", listen, "-w", str(capture))
        port = await wait_for(proxy, r"listening at 127\.0\.0\.1:(\d+) in front of")
        at = ("--bootstrap-controller", f"127.0.0.1:{port}")
        assert "LeaderId:               3000" in await run("quorum", "status", *at)
        proxy.send_signal(signal.SIGTERM)
        assert await proxy.wait() == 0
    assert "DescribeCluster" in await run("capture", "cat", str(capture))
    assert "quorum.avro" in await run("capture", "info", str(capture))


async def test_a_node_is_formatted_locked_run_and_its_log_dumped(tmp_path: Path) -> None:
    file, data, port = tmp_path / "server.properties", tmp_path / "data", free_port()
    file.write_text(
        f"process.roles=controller\nnode.id=3000\nlog.dirs={data}\n"
        f"listeners=CONTROLLER://127.0.0.1:{port}\ncontroller.listener.names=CONTROLLER\n"
        f"controller.quorum.bootstrap.servers=127.0.0.1:{port}\n"
    )
    await run("storage", "format", "-c", str(file), "-t", "a", "--standalone", "-r", "3.9-IV0")
    node = await start("controller", "run", str(file))
    await wait_for(node, r"controller (3000) leads")
    at = ("--bootstrap-controller", f"127.0.0.1:{port}")
    assert "LeaderId:               3000" in await run("quorum", "status", *at)
    with pytest.raises(Exception, match="another process uses"):
        DirectoryLock(data)
    node.send_signal(signal.SIGTERM)
    assert await node.wait() == 0
    log = data / "__cluster_metadata-0" / "00000000000000000000.log"
    assert "FEATURE_LEVEL_RECORD" in await run("log", "dump", str(log))


async def test_a_quorum_of_three_in_one_process_answers_and_ends() -> None:
    """The demo stands on it."""
    process = await start("controller", "quorum", "-n", "3")
    pattern = r"controller\.quorum\.bootstrap\.servers=(\S+)"
    bootstrap = await wait_for(process, pattern)
    assert "LeaderId:" in await run("quorum", "status", "--bootstrap-controller", bootstrap)
    process.send_signal(signal.SIGTERM)
    assert await process.wait() == 0
