"""Without Java: one listener is enough, the others come as their nodes are heard of."""

import asyncio
from contextlib import suppress

from kwire.admin import AdminClient, QuorumInfo, RaftVoterEndpoint
from kwire.errors import BrokerError
from kwire.net.address import Address
from kwire.proxy import Filters, Listener, Proxy
from kwire.proxy.addresses import AddressBook, NewListeners
from kwire.proxy.addresses.rewrite_endpoints import RewriteEndpoints
from kwire.testing.quorum import Quorum
from tests.support.virtual_time import in_virtual_time

PATIENCE = 90.0
JOINING = 3003


def where(info: QuorumInfo) -> dict[int, Address]:
    return {
        id: Address(node.endpoints[0].host, node.endpoints[0].port)
        for id, node in info.nodes.items()
    }


@in_virtual_time
async def test_a_client_and_a_new_voter_begin_at_one_listener_and_stay_on_the_proxy() -> None:
    book = AddressBook()
    filters = Filters([RewriteEndpoints(book)])
    async with Quorum(3) as quorum, asyncio.timeout(PATIENCE):
        first = Listener(node_id=3000, upstream=Address(*quorum.addresses[3000]))
        async with Proxy([first], filters=filters) as proxy, NewListeners(proxy, book):
            bootstrap = str(proxy.addresses[first])
            quorum.add_member(
                JOINING, properties={"controller.quorum.bootstrap.servers": bootstrap}
            )
            await quorum.start_node(JOINING)
            async with AdminClient(bootstrap_controllers=bootstrap) as client:
                host, port = quorum.addresses[JOINING]
                endpoint = RaftVoterEndpoint(name="CONTROLLER", host=host, port=port)
                await add(client, endpoint)
                told = where(await client.describe_metadata_quorum())
            real = {id: Address(*address) for id, address in quorum.addresses.items()}
            assert told == {id: book.proxy_address(address) for id, address in real.items()}
            listening = {one.node_id: at for one, at in proxy.addresses.items()}
            assert listening == told
            peers = {
                connection.peer for connection in proxy.connections if connection.peer is not None
            }
            assert JOINING in peers


async def add(client: AdminClient, endpoint: RaftVoterEndpoint) -> None:
    """Make the observer a voter, as soon as it has caught up."""
    while True:
        observers = (await client.describe_metadata_quorum()).observers
        directory = {
            observer.replica_id: observer.replica_directory_id for observer in observers
        }.get(JOINING)
        with suppress(BrokerError):
            if directory is not None:
                return await client.add_raft_voter(JOINING, directory, [endpoint])
        await asyncio.sleep(0.1)
