"""Peers are started, started anew and ended; one that cannot run says why."""

from __future__ import annotations

from asyncio.subprocess import Process
from collections.abc import Sequence
from pathlib import Path

import pytest

from conformance.servers import servers
from kwire.conform.target import examine_target
from kwire.conform.vocabulary import ServerRole
from kwire.messages.registry import api_name
from kwire.net.address import Address
from peers.build import built, run_tool, tool
from peers.kfake_cluster import module_version
from peers.kwire_servers import KwireControllerPeer
from peers.librdkafka_mock import LibrdkafkaPeer
from peers.peer import PeerUnavailable
from peers.process import ProcessPeer


async def test_kwires_controllers_start_anew_with_a_broker_registered() -> None:
    async with KwireControllerPeer() as peer:
        target = await examine_target(await peer.start(), role=peer.role)
        again = await examine_target(await peer.restart(), role=peer.role)
    assert (len(target.nodes), target.voters) == (3, (3000, 3001, 3002))
    assert again.cluster_id != target.cluster_id
    with pytest.raises(OSError, match="Connect call failed"):
        await examine_target(again.address)


async def test_the_mock_cluster_says_where_it_listens() -> None:
    pytest.importorskip("confluent_kafka")
    async with LibrdkafkaPeer() as peer:
        target = await examine_target(await peer.start())
    assert target.role is ServerRole.BROKER
    assert "Metadata" in {api_name(key) for key in target.versions.api_versions}


class Failing(ProcessPeer):
    """Ends before it listens."""

    name = slug = "failing"
    role = ServerRole.BROKER

    async def command(self) -> Sequence[str]:
        return ["sh", "-c", "echo no such storage >&2; exit 3"]

    async def address(self, process: Process) -> Address:
        return Address("127.0.0.1", 1)


async def test_a_process_that_ends_at_once_is_unavailable_with_its_last_words() -> None:
    async with Failing() as peer:
        with pytest.raises(PeerUnavailable, match="does not start: no such storage"):
            await peer.start()


def test_a_missing_tool_is_named() -> None:
    with pytest.raises(PeerUnavailable, match="built with no-such-tool, which is not on this"):
        tool("no-such-tool")


def test_a_build_that_fails_leaves_nothing_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KWIRE_CACHE", str(tmp_path))

    def failing(folder: Path) -> None:
        run_tool(["sh", "-c", "echo out of paper >&2; exit 1"], folder, 10)

    with pytest.raises(PeerUnavailable, match="its build failed: out of paper"):
        built("sample", failing)
    assert not (tmp_path / "peers" / "sample").exists()
    folder = built("sample", lambda folder: (folder / "program").touch())
    assert [path.name for path in folder.iterdir()] == ["program"]


def test_every_server_has_a_name_and_a_slug_of_its_own() -> None:
    peers = list(servers())
    assert len({peer.slug for peer in peers}) == len({peer.name for peer in peers}) == 13
    assert module_version() in {peer.name.rpartition(" ")[2] for peer in peers}
