"""Addresses that a client names: none leads anywhere unless a Kafka node of the cluster agrees."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

import pytest

from kwire.codec.declaration import Request, Response
from kwire.errors import KwireError
from kwire.messages.a03_metadata import MetadataRequest, MetadataResponse, MetadataResponseBroker
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.messages.a62_broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)
from kwire.messages.a62_broker_registration import Listener as BrokerListener
from kwire.messages.a70_controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)
from kwire.messages.a70_controller_registration import Listener as ControllerListener
from kwire.messages.a80_add_raft_voter import (
    AddRaftVoterRequest,
    AddRaftVoterResponse,
    Listener,
)
from kwire.messages.a82_update_raft_voter import Listener as VoterListener
from kwire.messages.a82_update_raft_voter import UpdateRaftVoterRequest, UpdateRaftVoterResponse
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.frames import RequestFrame
from kwire.proxy import Event, Filters, Notice, Proxy
from kwire.proxy import Listener as ProxyListener
from kwire.proxy.addresses import AddressBook, NewListeners, new_listeners
from kwire.proxy.addresses.rewrite_endpoints import RewriteEndpoints
from scripted_node import Script, ScriptedNode
from tests.support.eventually import eventually
from tests.support.proxy.data_path.proxied_node import node

ACCEPTED, NOT_AUTHORIZED = 0, 31
PAGE = b"HTTP/1.0 200 OK\r\n\r\nfor this machine only"
GET = b"GET / HTTP/1.0\r\n\r\n"
MANY = 1200


@dataclass
class Rewriting:
    """A scripted controller behind a proxy that rewrites; bootstrap: the proxy's address."""

    controller: ScriptedNode
    proxy: Proxy
    bootstrap: Address
    events: list[Event] = field(default_factory=list)

    async def ask(self, request: Request) -> Response:
        """Send a request through the proxy."""
        async with await Connection.open(self.bootstrap.host, self.bootstrap.port) as connection:
            return await connection.send(request)

    @property
    def opened(self) -> dict[Address, Address]:
        """The proxy's listeners in front of other nodes than the controller, by node."""
        own = Address.parse(self.controller.address)
        return {
            listener.upstream: at
            for listener, at in self.proxy.addresses.items()
            if listener.upstream != own
        }

    @property
    def notices(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, Notice)]


@asynccontextmanager
async def rewriting(scripts: dict[type[Request], Script]) -> AsyncIterator[Rewriting]:
    """`--rewrite-endpoints` in front of one controller."""
    events: list[Event] = []
    book = AddressBook()
    filters = Filters([RewriteEndpoints(book)])
    async with ScriptedNode(scripts) as controller:
        listener = ProxyListener(node_id=3000, upstream=Address.parse(controller.address))
        async with (
            Proxy([listener], sinks=[events.append], filters=filters) as proxy,
            NewListeners(proxy, book),
        ):
            yield Rewriting(controller, proxy, proxy.addresses[listener], events)


def adding(*addresses: Address) -> AddRaftVoterRequest:
    return AddRaftVoterRequest(
        voter_id=3001,
        voter_directory_id=UUID(int=1),
        listeners=[Listener(name="C", host=one.host, port=one.port) for one in addresses],
    )


async def fetch(address: Address, request: bytes = GET) -> bytes:
    """Return what a plain client gets there."""
    try:
        reader, writer = await asyncio.open_connection(address.host, address.port)
    except ConnectionError:
        return b""
    try:
        writer.write(request)
        async with asyncio.timeout(5):
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


@asynccontextmanager
async def private_page(gets: list[bytes]) -> AsyncIterator[Address]:
    """A web server that only the proxy reaches; gets: the requests for its page."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.read(1 << 16)
        if request.startswith(b"GET"):
            gets.append(request)
        writer.write(PAGE)
        writer.close()

    async with node(serve) as address:
        yield address


@pytest.mark.parametrize("error_code", [NOT_AUTHORIZED, ACCEPTED])
async def test_no_private_page_is_read_over_a_voter_that_a_client_adds(error_code: int) -> None:
    """Also not if the controller accepts the voter, and not while it has not decided."""
    answer = AddRaftVoterResponse(error_code=error_code)
    gets: list[bytes] = []
    async with (
        private_page(gets) as page,
        rewriting({AddRaftVoterRequest: lambda frame: answer}) as here,
    ):
        assert await fetch(page) == PAGE
        async with asyncio.TaskGroup() as tasks:
            asking = tasks.create_task(here.ask(adding(page)))
            while not asking.done():
                for at in here.opened.values():
                    assert await fetch(at) == b""
                await asyncio.sleep(0)
        for at in here.opened.values():
            assert await fetch(at) == b""
        (asked,) = here.controller.requests(AddRaftVoterRequest)
        assert isinstance(asked, AddRaftVoterRequest)
        (named,) = asked.listeners
        assert await fetch(Address(named.host, named.port)) == b""
    assert len(gets) == 1


@pytest.mark.parametrize("name", ["10.9.8.7", "internal.example.org", "0.0.0.0", "127.1"])
async def test_an_address_that_is_not_allowed_stays_and_is_told(name: str) -> None:
    answer = AddRaftVoterResponse(error_code=NOT_AUTHORIZED)
    async with rewriting({AddRaftVoterRequest: lambda frame: answer}) as here:
        await here.ask(adding(Address(name, 9093)))
        (asked,) = here.controller.requests(AddRaftVoterRequest)
        assert isinstance(asked, AddRaftVoterRequest)
        assert asked.listeners == adding(Address(name, 9093)).listeners
        assert here.opened == {}
        (told,) = [text for text in here.notices if "--allowed-nodes" in text]
    assert told.startswith(f"the address {name}:9093 of node 3001 in AddRaftVoter stays as it is: ")


def brokers(*nodes: ScriptedNode) -> MetadataResponse:
    return MetadataResponse(
        brokers=[
            MetadataResponseBroker(node_id=number, host="127.0.0.1", port=one.port)
            for number, one in enumerate(nodes)
        ]
    )


@pytest.mark.parametrize("error_code", [NOT_AUTHORIZED, ACCEPTED])
async def test_a_request_with_many_listeners_takes_none_from_the_nodes(error_code: int) -> None:
    registered = BrokerRegistrationResponse(error_code=error_code)
    flood = BrokerRegistrationRequest(
        broker_id=7,
        listeners=[
            BrokerListener(name=f"L{port}", host="127.0.0.1", port=port)
            for port in range(20_000, 20_000 + MANY)
        ],
    )
    async with ScriptedNode({VoteRequest: lambda frame: VoteResponse()}) as broker:
        scripts: dict[type[Request], Script] = {
            BrokerRegistrationRequest: lambda frame: registered,
            MetadataRequest: lambda frame: brokers(broker),
        }
        async with rewriting(scripts) as here:
            await here.ask(flood)
            assert len(here.opened) <= 8
            refused = MANY - 8
            told = [text for text in here.notices if "stay as it is" in text]
            assert [text.partition(" more in this")[0].rpartition(" ")[2] for text in told] == [
                "99",
                str(refused - 101),
            ]
            response = await here.ask(MetadataRequest())
            assert isinstance(response, MetadataResponse)
            (named,) = response.brokers
            at = here.opened[Address.parse(broker.address)]
            assert (named.host, named.port) == (at.host, at.port)
            async with await Connection.open(at.host, at.port) as connection:
                assert await connection.send(VoteRequest()) == VoteResponse()


VOTES: dict[type[Request], Script] = {VoteRequest: lambda frame: VoteResponse()}


async def vote(at: Address) -> Response:
    async with await Connection.open(at.host, at.port) as connection:
        return await connection.send(VoteRequest())


@dataclass
class Leader:
    """Accepts voters as Kafka's leader does (KIP-853, AddVoterHandler).

    5. It sends ApiVersions to the voter's first listener, before anything is decided.
    reached: the answers. votes: what else it got there then.
    """

    reached: list[bool] = field(default_factory=list)
    votes: list[str] = field(default_factory=list)

    async def add(self, frame: RequestFrame) -> Response:
        assert isinstance(frame.body, AddRaftVoterRequest)
        at = Address(frame.body.listeners[0].host, frame.body.listeners[0].port)
        async with await Connection.open(at.host, at.port):
            self.reached.append(True)
        try:
            await vote(at)
        except KwireError as error:
            self.votes.append(type(error).__name__)
        return AddRaftVoterResponse()


async def test_a_voter_that_the_controller_accepts_gets_its_listener() -> None:
    leader = Leader()
    async with (
        ScriptedNode(VOTES) as voter,
        rewriting({}) as here,
    ):
        here.controller.slow_scripts[AddRaftVoterRequest] = leader.add
        real = Address.parse(voter.address)
        assert await here.ask(adding(real)) == AddRaftVoterResponse()
        assert (leader.reached, len(leader.votes)) == ([True], 1)
        (asked,) = here.controller.requests(AddRaftVoterRequest)
        at = here.opened[real]
        assert asked == adding(at)
        assert await vote(at) == VoteResponse()


def moved_to(address: Address) -> UpdateRaftVoterRequest:
    listener = VoterListener(name="C", host=address.host, port=address.port)
    return UpdateRaftVoterRequest(voter_id=3001, listeners=[listener])


def registering(address: Address) -> BrokerRegistrationRequest:
    listener = BrokerListener(name="P", host=address.host, port=address.port)
    return BrokerRegistrationRequest(broker_id=1, listeners=[listener])


def registering_controller(address: Address) -> ControllerRegistrationRequest:
    listener = ControllerListener(name="C", host=address.host, port=address.port)
    return ControllerRegistrationRequest(controller_id=3001, listeners=[listener])


CHANGES: tuple[tuple[Callable[[Address], Request], Response], ...] = (
    (moved_to, UpdateRaftVoterResponse()),
    (registering, BrokerRegistrationResponse()),
    (registering_controller, ControllerRegistrationResponse()),
)


@pytest.mark.parametrize(("change", "answer"), CHANGES)
async def test_a_node_that_the_controller_accepts_gets_its_listener(
    change: Callable[[Address], Request], answer: Response
) -> None:
    async with ScriptedNode(VOTES) as named:
        real = Address.parse(named.address)
        async with rewriting({type(change(real)): lambda frame: answer}) as here:
            await here.ask(change(real))
            at = here.opened[real]
            assert here.controller.requests(type(change(real))) == [change(at)]
            assert await vote(at) == VoteResponse()


@pytest.mark.parametrize(("change", "answer"), CHANGES)
async def test_a_node_that_is_not_accepted_loses_its_listener(
    change: Callable[[Address], Request], answer: Response, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(new_listeners, "SWEEP", 0.01)
    refused = answer.replace(error_code=NOT_AUTHORIZED)
    async with ScriptedNode(VOTES) as named:
        real = Address.parse(named.address)
        async with rewriting({type(change(real)): lambda frame: refused}) as here:
            await here.ask(change(real))
            await eventually(lambda: not here.opened)
            (told,) = [text for text in here.notices if text.startswith("no more listening at ")]
            assert "no node has accepted" in told
            # A node names it after all, as in a log that has the proxy's address already.
            port = int(told.split(" in front of ")[0].rpartition(":")[2])
            here.controller.scripts[MetadataRequest] = lambda frame: MetadataResponse(
                brokers=[MetadataResponseBroker(node_id=1, host="127.0.0.1", port=port)]
            )
            await here.ask(MetadataRequest())
            assert here.opened == {real: Address("127.0.0.1", port)}
            assert await vote(Address("127.0.0.1", port)) == VoteResponse()
