"""The synchronous face: the same operations, one event loop in a thread for all calls."""

import inspect
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from kwire.admin import client, sync
from kwire.admin.cluster_client import ClusterClient
from kwire.errors import ConnectionFailed, InvalidValue
from kwire.messages.a18_api_versions import ApiVersionsRequest
from real_kafka import free_port
from scripted_quorum import LEADER_EPOCH, ScriptedQuorum, scripted_quorum
from synchronous_admin.__main__ import PATH, formatted


def test_it_is_what_the_generator_writes() -> None:
    assert PATH.read_text() == formatted()


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
