"""A quorum for programs and tests that are not asynchronous."""

import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from kwire.controller.server.directory_log import DirectoryLog
from kwire.errors import InvalidValue
from kwire.testing.background import BackgroundQuorum
from tests.support.eventually import eventually_blocking

pytest_plugins = ["kwire.testing.pytest_plugin"]


def test_the_fixture_gives_a_controller_that_leads(kwire_controller: BackgroundQuorum) -> None:
    host, _, port = kwire_controller.bootstrap_controllers.partition(":")
    with socket.create_connection((host, int(port)), timeout=60):
        assert kwire_controller.quorum.leader is not None


def test_a_controller_can_be_killed_and_started_again() -> None:
    quick = {
        "controller.quorum.election.timeout.ms": "200",
        "controller.quorum.fetch.timeout.ms": "1000",
    }
    with BackgroundQuorum(3, properties=quick) as background:
        leader = background.run(background.quorum.active_controller)
        waited = background.run(background.quorum.wait_for_leader)
        assert background.wait_for_leader() == waited == leader.node_id
        background.kill(leader.node_id)
        other = background.run(background.quorum.active_controller)
        assert other.node_id != leader.node_id
        background.start_node(leader.node_id)
        assert sorted(background.quorum.nodes) == [3000, 3001, 3002]


def test_what_was_closed_before_it_started_does_not_start() -> None:
    background = BackgroundQuorum(1)
    background.close()
    background.close()
    with pytest.raises(InvalidValue, match="is closed"):
        background.start()
    assert not background.quorum.folder.exists()


def test_its_thread_ends_also_where_the_quorum_does_not_stop_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    others = threading.enumerate()
    background = BackgroundQuorum(1)
    background.start()
    stop = background.quorum.stop

    async def fail() -> None:
        await stop()
        raise OSError("the folder is not empty")

    monkeypatch.setattr(background.quorum, "stop", fail)
    with pytest.raises(OSError, match="not empty"):
        background.close()
    left = [thread.name for thread in threading.enumerate() if thread not in others]
    assert "kwire-quorum" not in left


def test_what_is_under_way_ends_before_the_folders_go(monkeypatch: pytest.MonkeyPatch) -> None:
    background = BackgroundQuorum(1)
    opening = threading.Event()
    seen: list[object] = []
    opened = DirectoryLog.__init__

    def slow(self: DirectoryLog, *args: Any, **kwargs: Any) -> None:
        opening.set()
        eventually_blocking(lambda: background._closed, pause=0.01)
        time.sleep(0.05)  # for a `close` that would not wait for this
        seen.append(background.quorum.folder.exists())
        opened(self, *args, **kwargs)

    monkeypatch.setattr(DirectoryLog, "__init__", slow)
    starting = threading.Thread(target=lambda: seen.append(_failure(background.start)))
    starting.start()
    assert opening.wait(60)
    background.close()
    starting.join()
    assert seen == [True, "CancelledError"]
    assert not background.quorum.folder.exists()


def _failure(call: Callable[[], None]) -> str:
    try:
        call()
    except BaseException as error:
        return type(error).__name__
    return "none"
