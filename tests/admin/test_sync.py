"""The synchronous face: the same operations, one event loop in a thread for all calls."""

import inspect
import os
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from admin_clients.__main__ import TEXTS, formatted
from kwire.admin import client, sync
from kwire.admin.cluster_client import ClusterClient
from kwire.errors import AnswerLost, ConnectionFailed, InvalidValue
from kwire.messages.a18_api_versions import ApiVersionsRequest
from real_kafka import free_port
from scripted_quorum import LEADER_EPOCH, ScriptedQuorum, scripted_quorum
from tests.support.eventually import TOO_LONG

PATIENCE = 60.0


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_a_client_is_what_the_generator_writes(path: Path) -> None:
    assert path.read_text() == formatted(path)


def test_it_has_every_operation_with_the_same_parameters() -> None:
    names = [
        name
        for name, function in inspect.getmembers(client.AdminClient, inspect.iscoroutinefunction)
        if not name.startswith("_") and not hasattr(ClusterClient, name)
    ]
    assert len(names) > 40
    for name in names:
        ours = inspect.signature(getattr(sync.AdminClient, name))
        assert ours == inspect.signature(getattr(client.AdminClient, name))


async def test_calls_of_several_threads_share_one_connection() -> None:
    import asyncio

    async with scripted_quorum(1) as one:
        epochs = await asyncio.to_thread(_ask_from_threads, one)
        assert epochs == [LEADER_EPOCH] * 20
        assert len(one.nodes[0].requests(ApiVersionsRequest)) == 1
        await one.nodes[0].deserted()


def _ask_from_threads(quorum: ScriptedQuorum) -> list[int]:
    with (
        sync.AdminClient(bootstrap_controllers=quorum.addresses()) as admin,
        ThreadPoolExecutor(4) as pool,
    ):
        return [
            info.leader_epoch
            for info in pool.map(lambda _: admin.describe_metadata_quorum(), range(20))
        ]


def test_errors_are_those_of_the_asynchronous_client() -> None:
    with (
        sync.AdminClient(bootstrap_controllers=f"127.0.0.1:{free_port()}") as admin,
        pytest.raises(ConnectionFailed, match="nothing listens there"),
    ):
        admin.describe_metadata_quorum()


def test_a_closed_client_says_so_and_leaves_no_thread() -> None:
    before = threading.active_count()
    admin = sync.AdminClient(bootstrap_controllers=f"127.0.0.1:{free_port()}")
    with pytest.raises(ConnectionFailed):
        admin.describe_metadata_quorum()
    admin.close()
    admin.close()
    assert threading.active_count() == before
    with pytest.raises(InvalidValue, match="open a new one"):
        admin.describe_metadata_quorum()


def test_a_call_that_waits_ends_when_another_thread_closes_the_client() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        admin = sync.AdminClient(f"127.0.0.1:{silent.getsockname()[1]}", connect_timeout=TOO_LONG)
        with ThreadPoolExecutor(1) as pool:
            call = pool.submit(admin.list_topics, timeout=TOO_LONG)
            with silent.accept()[0]:
                admin.close()
                with pytest.raises(AnswerLost, match="closed while a call waited"):
                    call.result(PATIENCE)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_is_told_to_open_a_client_of_its_own() -> None:
    script = f"""
import os, signal
from kwire.admin import sync
from kwire.errors import AnswerLost, ConnectionFailed, InvalidValue
admin = sync.AdminClient("127.0.0.1:{free_port()}")
try:
    admin.list_topics()
except ConnectionFailed:
    pass
child = os.fork()
if not child:
    signal.alarm(20)
    try:
        admin.list_topics()
    except InvalidValue as error:
        print(error, flush=True)
    admin.close()
    os._exit(0)
status = os.waitpid(child, 0)[1]
admin.close()
raise SystemExit(status)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.stdout == "the client was opened before a fork: open a new one here\n"
    assert run.returncode == 0
