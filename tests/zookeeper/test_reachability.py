"""Addresses that refuse, and names that nobody resolves: told at once where nobody waits for them.

The reasons are the system's; only kazoo's thread connects, so each test opens a client.
"""

from __future__ import annotations

import asyncio
import socket

import pytest

from kwire.net.address import Address
from kwire.testing.local_kafka.address import free_port
from kwire.zookeeper import ZooKeeperUnreachable
from kwire.zookeeper.kazoo_client import KazooZooKeeper
from kwire.zookeeper.reachability import FailedAttempt, ServerReachability
from kwire.zookeeper.settings import ZooKeeperSettings
from tests.support.eventually import TOO_LONG


def settings(*addresses: Address, seconds: float = TOO_LONG) -> ZooKeeperSettings:
    return ZooKeeperSettings(addresses=addresses, connection_seconds=seconds, retries_refused=False)


async def failure(chosen: ZooKeeperSettings) -> str:
    with pytest.raises(ZooKeeperUnreachable) as raised:
        await asyncio.wait_for(KazooZooKeeper.connect(chosen), 60)
    return str(raised.value)


async def test_it_is_told_at_once_that_every_address_refuses() -> None:
    first, second = (Address("127.0.0.1", free_port()) for _ in range(2))
    text = await failure(settings(first, second))
    servers, _, reasons = text.removeprefix("no session with ZooKeeper at ").partition(": ")
    assert servers == f"{first},{second}"
    assert set(reasons.split("; ")) == {
        f"{first}: Connection refused",
        f"{second}: Connection refused",
    }


async def test_it_is_told_at_once_that_a_name_is_not_resolved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unknown(*_: object, **__: object) -> object:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    text = await failure(settings(Address("zk1", 2181)))
    assert text == "no session with ZooKeeper at zk1:2181: zk1 cannot be resolved"


async def test_an_address_that_is_silent_is_waited_for() -> None:
    refusing = Address("127.0.0.1", free_port())
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = Address(*silent.getsockname())
        text = await failure(settings(refusing, address, seconds=0.2))
    assert text.startswith(f"no session with ZooKeeper at {refusing},{address} in 0.2 s: ")


async def test_an_address_that_accepts_a_connection_has_not_refused_it() -> None:
    reachability = ServerReachability([Address("127.0.0.1", 1)])
    changes: list[str] = []
    await reachability.look_up(lambda: changes.append("looked up"))
    assert (changes, reachability.is_hopeless) == (["looked up"], False)
    refused = FailedAttempt(reason="Connection refused", is_refused=True)
    late = FailedAttempt(reason="no connection in time", is_refused=False)
    seen = []
    for attempt in (refused, late, refused, None):
        reachability.attempted(("127.0.0.1", 1), attempt)
        seen.append((reachability.is_hopeless, reachability.failures))
    assert seen == [
        (True, ["127.0.0.1:1: Connection refused"]),
        (False, ["127.0.0.1:1: no connection in time"]),
        (True, ["127.0.0.1:1: Connection refused"]),
        (False, []),
    ]
