"""The proxy is restarted in front of real nodes that it has given addresses to."""

import asyncio
import signal
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from kwire.admin import AdminClient, RaftVoterEndpoint
from kwire.errors import BrokerError, KwireError
from kwire.net.address import Address
from kwire.proxy.data_path.given_addresses import GivenAddresses
from real_kafka import Layout, free_port
from tests.support.cli.command import KWIRE
from tests.support.eventually import eventually
from tests.support.proxy.addresses.traffic import PATIENCE, traffic
from tests.support.proxy.tcp_connections import bypasses
from tests.support.real_kafka.own_cluster import OwnCluster

JOINING = 3001
LAYOUT = Layout(
    controllers=(3000,), brokers=(1, 2), properties={"offsets.topic.replication.factor": "2"}
)


def given(file: Path) -> Mapping[int | None, Address]:
    """The addresses that the proxy has given out for nodes, by the nodes' ids."""
    addresses = GivenAddresses(file)
    addresses.read()
    return {address.node_id: address.given for address in addresses if address.believed}


@dataclass
class RestartedProxy:
    """`kwire proxy` as a process that is ended, and started again with the same arguments."""

    arguments: tuple[str, ...]
    at: Address
    process: Process | None = None

    async def start(self) -> int:
        """Return the id of the process once it listens."""
        command = (str(KWIRE), "proxy", *self.arguments)
        self.process = await asyncio.create_subprocess_exec(
            *command, stdout=DEVNULL, stderr=DEVNULL
        )
        await eventually(self._listens)
        return self.process.pid

    async def end(self, number: signal.Signals = signal.SIGKILL) -> None:
        """Return when the process is gone."""
        if self.process is not None and self.process.returncode is None:
            self.process.send_signal(number)
            await self.process.wait()

    async def _listens(self) -> bool:
        try:
            _, writer = await asyncio.open_connection(self.at.host, self.at.port)
        except ConnectionError:
            return False
        writer.close()
        return True


@asynccontextmanager
async def restarted_proxy(at: Address, *arguments: str) -> AsyncIterator[RestartedProxy]:
    proxy = RestartedProxy(arguments, at)
    try:
        await proxy.start()
        yield proxy
    finally:
        await proxy.end()


async def voters(controller: Address) -> dict[int, Address]:
    """The voters and their addresses, as who asks this controller learns them; {} for none yet."""
    try:
        async with AdminClient(bootstrap_controllers=str(controller), timeout=10.0) as client:
            info = await client.describe_metadata_quorum()
    except KwireError:
        return {}
    return {
        voter.replica_id: Address(end.host, end.port)
        for voter in info.voters
        for end in info.nodes[voter.replica_id].endpoints
    }


async def add_voter(controller: Address, directory_id: str, endpoint: Address) -> bool:
    """Ask the leader to add the controller that has joined; True once it is a voter."""
    listener = RaftVoterEndpoint(name="CONTROLLER", host=endpoint.host, port=endpoint.port)
    try:
        async with AdminClient(bootstrap_controllers=str(controller), timeout=10.0) as client:
            await client.add_raft_voter(JOINING, directory_id, [listener])
    except BrokerError as error:
        return error.code == 126  # DUPLICATE_VOTER
    except KwireError:
        return False
    return True


@pytest.mark.parametrize(
    "number",
    [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.nightly)],
    ids=["SIGKILL", "SIGTERM"],
)
async def test_nodes_and_clients_go_on_when_the_proxy_starts_again(
    own_cluster: OwnCluster, tmp_path: Path, number: signal.Signals
) -> None:
    cluster = own_cluster(LAYOUT)
    cluster.add_node(JOINING)
    joining = cluster.nodes.pop(JOINING)
    file = tmp_path / "addresses.yaml"
    at = Address("127.0.0.1", free_port())
    upstream = cluster.nodes[3000].controller_address
    arguments = (
        *("--listen", f"3000@{at}={upstream.host}:{upstream.port}", "--rewrite-endpoints"),
        *("--address-file", str(file)),
    )
    for node in (*cluster.nodes.values(), joining):
        node.configure({"controller.quorum.bootstrap.servers": str(at)})
    ports = {node.address.port for node in (*cluster.nodes.values(), joining)}
    async with restarted_proxy(at, *arguments) as run:
        await asyncio.to_thread(cluster.start)
        await asyncio.to_thread(joining.start)
        cluster.nodes[JOINING] = joining
        own = Address(joining.controller_address.host, joining.controller_address.port)
        await eventually(
            lambda: add_voter(at, joining.directory_id, own), timeout=PATIENCE, pause=0.5
        )
        before = given(file)
        assert before.keys() == {1, 2, 3000, JOINING}
        assert await voters(at) == {3000: at, JOINING: before[JOINING]}
        async with traffic(before[1], before[2]) as said:
            await run.end(number)
            process = await run.start()
            # Voters find each other at the proxy: the one that stays has the other's address in its
            # log, and the one that starts asks it for its vote.
            await asyncio.to_thread(cluster.nodes[3000].restart)
            expected = {3000: at, JOINING: before[JOINING]}
            await eventually(
                lambda: voters(at), lambda found: found == expected, timeout=PATIENCE, pause=0.5
            )
            await asyncio.to_thread(cluster.nodes[2].restart)
            await asyncio.sleep(3)
            assert bypasses(ports, but_to_itself=True, proxy=process) == []
        assert (said["refused"], said["lost"]) == (0, 0)
        assert said["acknowledged"] > 100
        assert given(file) == before
        await asyncio.to_thread(cluster.close)
