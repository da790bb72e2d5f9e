"""A quorum of kwire's own, followed while the shell asks."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kwire.errors import ConnectionFailed
from kwire.net.address import Address
from kwire.net.timeouts import Timeouts
from kwire.shell import DirectorySource
from kwire.shell.live import LiveSource
from kwire.shell.position import OffsetNotAvailable
from kwire.testing.quorum import Quorum
from tests.support.eventually import eventually
from tests.support.shell.sessions import Session

QUICK = {
    "controller.quorum.election.timeout.ms": "200",
    "controller.quorum.fetch.timeout.ms": "1000",
}


def addresses(quorum: Quorum) -> list[Address]:
    return [Address(*address) for address in quorum.addresses.values()]


@asynccontextmanager
async def followed(*controllers: Address) -> AsyncIterator[LiveSource]:
    """Follow a quorum that runs in this event loop, which must not be blocked."""
    live = LiveSource(controllers)
    await asyncio.to_thread(live.__enter__)
    try:
        yield live
    finally:
        await asyncio.to_thread(live.__exit__)


async def test_it_follows_the_quorum_and_goes_back_in_its_log(tmp_path: Path) -> None:
    async with Quorum(3, folder=tmp_path, properties=QUICK) as quorum, asyncio.timeout(60):
        first = await quorum.active_controller()
        async with followed(*addresses(quorum)) as live:
            session = Session(live)
            found = await eventually(
                lambda: asyncio.to_thread(session, "ls /image/cluster/controllers"),
                lambda names: names == ["3000", "3001", "3002"],
            )
            latest = await asyncio.to_thread(live.latest)
            assert latest.offset is not None
            # The first batch has the records of the election, three.
            for offset in range(2, latest.offset):
                position = await asyncio.to_thread(live.at, offset)
                assert position.offset is not None
                assert position.offset <= offset
            assert await asyncio.to_thread(live.at, latest.offset) == latest
            with DirectorySource(_folder(tmp_path, first.node_id)) as directory:
                assert directory.at(latest.offset) == latest
            with pytest.raises(OffsetNotAvailable, match=r"offset 999: it has offsets 2 to \d+"):
                await asyncio.to_thread(live.at, 999)
            await first.kill()
            # The last image stays while nobody leads, and the next leader has the log too.
            assert await asyncio.to_thread(session, "ls /image/cluster/controllers") == found
            await eventually(lambda: asyncio.to_thread(_leads, live, latest.offset))


def _folder(quorum: Path, node_id: int) -> Path:
    (folder,) = quorum.glob(f"*{node_id}*/**/__cluster_metadata-0")
    return folder


def _leads(live: LiveSource, offset: int | None) -> bool:
    assert offset is not None
    try:
        return live.at(offset).offset == offset
    except ConnectionFailed:
        return False


async def test_a_controller_that_is_not_there_is_named() -> None:
    source = LiveSource([Address("127.0.0.1", 1)], timeouts=Timeouts(operation=0.2))
    with pytest.raises(ConnectionFailed, match="refused the connection"):
        await asyncio.to_thread(source.__enter__)


def test_ctrl_c_leaves_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    source = LiveSource([Address("127.0.0.1", 1)], timeouts=Timeouts(operation=30))
    monkeypatch.setattr(LiveSource, "_find_quorum", interrupted)
    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt), source:
        pass
    assert threading.active_count() == before
