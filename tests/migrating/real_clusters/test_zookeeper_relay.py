"""A relay stops requests to a real ZooKeeper before it has them, or after."""

import contextlib
import threading
from collections.abc import Iterator

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionLoss, SessionExpiredError

from migrating.real_clusters.zookeeper_relay import ZooKeeperRelay
from migrating.real_clusters.zookeeper_session import zookeeper_session
from real_kafka import Launcher
from real_kafka.zookeeper import ZooKeeperServer


@pytest.fixture
def zookeeper(kafka: Launcher) -> Iterator[ZooKeeperServer]:
    with ZooKeeperServer() as server:
        yield server


@pytest.fixture
def relay(zookeeper: ZooKeeperServer) -> Iterator[ZooKeeperRelay]:
    with ZooKeeperRelay(zookeeper.address) as relay:
        yield relay


def create(client: KazooClient, path: str) -> threading.Thread:
    def run() -> None:
        with contextlib.suppress(ConnectionLoss, SessionExpiredError):
            client.create(path, b"content")

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_a_request_stopped_before_is_carried_out_when_it_is_released(
    zookeeper: ZooKeeperServer, relay: ZooKeeperRelay
) -> None:
    with (
        zookeeper_session(str(relay.address)) as client,
        zookeeper_session(zookeeper.connect) as beside,
    ):
        stop = relay.stop_before(b"/stopped")
        client.create("/passes")
        assert not stop.reached
        creation = create(client, "/stopped")
        stop.wait()
        assert beside.exists("/stopped") is None
        stop.release()
        creation.join()
        assert beside.get("/stopped")[0] == b"content"


def test_a_request_stopped_after_is_carried_out_without_a_response(
    zookeeper: ZooKeeperServer, relay: ZooKeeperRelay
) -> None:
    with (
        zookeeper_session(str(relay.address)) as client,
        zookeeper_session(zookeeper.connect) as beside,
    ):
        stop = relay.stop_after(b"/stopped")
        creation = create(client, "/stopped")
        stop.wait()
        beside.sync("/")
        assert beside.get("/stopped")[0] == b"content"
        assert creation.is_alive()
        relay.cut()
        creation.join()


def test_a_request_held_at_a_cut_is_never_carried_out(
    zookeeper: ZooKeeperServer, relay: ZooKeeperRelay
) -> None:
    with (
        zookeeper_session(str(relay.address)) as client,
        zookeeper_session(zookeeper.connect) as beside,
    ):
        stop = relay.stop_before(b"/stopped")
        creation = create(client, "/stopped")
        stop.wait()
        relay.cut()
        creation.join()
        assert client.exists("/") is not None
        assert beside.exists("/stopped") is None
