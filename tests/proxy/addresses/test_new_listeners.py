"""Listeners for nodes that come up while traffic flows: one each, and none without end."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.net.address import Address
from kwire.proxy import Event, Flow, Listener, NoticeKind, Outcome, Proxy
from kwire.proxy.addresses import AddressBook, NewListeners, new_listeners, opened_listeners
from kwire.proxy.addresses.opened_listeners import OpenedListener, OpenedListeners
from kwire.proxy.data_path.allowed_nodes import AddressRule, AllowedNodes
from scripted_node import ScriptedNode
from tests.support.eventually import eventually
from tests.support.proxy.addresses.address_books import a_flow, message_address
from tests.support.proxy.dialogue import connection
from tests.support.proxy.notices import notice_texts

FIRST = Listener(node_id=1, upstream=Address("node-1", 9092))
EVERYTHING = AllowedNodes([AddressRule.parse(rule) for rule in ("*.test", "127.0.0.0/8")])
HOUR = 3600.0


@dataclass
class Opening:
    """A proxy that opens listeners for addresses in messages."""

    proxy: Proxy
    book: AddressBook
    events: list[Event]

    async def seek(
        self,
        node_id: int | None,
        address: Address,
        *,
        by_node: bool = True,
        flow: Flow | None = None,
    ) -> Address | str:
        """Return what a message gets that names an address."""
        future: asyncio.Future[Address | str] = asyncio.get_running_loop().create_future()
        self.book.request_listener(
            message_address(node_id, address, by_node=by_node, flow=flow), future.set_result
        )
        return await future

    @property
    def nodes(self) -> list[Address]:
        """The nodes that listeners were opened for."""
        return [
            listener.upstream for listener in self.proxy.addresses if listener.guard is not None
        ]


@asynccontextmanager
async def opening(advertised_host: str | None = None) -> AsyncIterator[Opening]:
    events: list[Event] = []
    book = AddressBook(advertised_host)
    async with (
        Proxy([FIRST], sinks=[events.append]) as proxy,
        NewListeners(proxy, book, EVERYTHING),
    ):
        yield Opening(proxy, book, events)


def host(number: int) -> Address:
    return Address(f"node-{number}.test", 9092)


async def test_the_listeners_that_are_there_are_in_the_book() -> None:
    book = AddressBook()
    early: list[Address | str] = []
    book.request_listener(message_address(1, Address("NODE-1", 9092)), early.append)
    async with Proxy([FIRST]) as proxy, NewListeners(proxy, book):
        told = book.proxy_address(Address("node-1", 9092))
        assert told == proxy.addresses[FIRST]
        assert early == [told]
        assert book.node_address(told) == FIRST.upstream
        assert len(proxy.addresses) == 1


async def test_a_new_node_gets_one_listener_however_many_wait_for_it() -> None:
    async with opening("proxy.example.org") as here:
        first, second, other = await asyncio.gather(
            here.seek(2, host(2)), here.seek(2, host(2)), here.seek(3, host(3))
        )
        assert isinstance(first, Address)
        assert (first.host, first) == ("proxy.example.org", second)
        assert other != first
        listeners = {one.node_id: (one, at) for one, at in here.proxy.addresses.items()}
        assert listeners.keys() == {1, 2, 3}
        listener, at = listeners[2]
        assert (listener.upstream, at) == (host(2), Address("127.0.0.1", first.port))
        assert await here.seek(2, host(2)) == first


async def test_a_node_gets_so_many_and_others_get_theirs() -> None:
    limit = opened_listeners.PER_NODE
    async with opening() as here:
        told = [await here.seek(2, host(number)) for number in range(limit + 1)]
        assert told[limit] == f"{limit} other addresses of this node have listeners"
        assert isinstance(await here.seek(3, host(50)), Address)
        assert len(here.nodes) == limit + 1


async def test_a_client_uses_up_its_own_room_only() -> None:
    limit = opened_listeners.PER_CONNECTION
    greedy, modest = connection(), connection()
    async with opening() as here:
        told = [
            await here.seek(number, host(number), by_node=False, flow=a_flow(greedy))
            for number in range(limit + 1)
        ]
        assert told[limit] == f"{limit} addresses in requests of this client wait to be accepted"
        assert isinstance(
            await here.seek(50, host(50), by_node=False, flow=a_flow(modest)), Address
        )
        assert isinstance(await here.seek(limit, host(limit)), Address)


async def test_what_is_not_allowed_gets_none() -> None:
    async with opening() as here:
        told = await here.seek(2, Address("10.0.0.1", 9092))
        assert isinstance(told, str)
        assert told.startswith("no allowed node has it: give --allowed-nodes")
        assert here.nodes == []


async def test_a_listener_of_a_request_is_closed_when_it_ends_without_success(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(new_listeners, "SWEEP", 0.01)
    lost, accepted = a_flow(), a_flow()
    async with opening() as here:
        gone = await here.seek(2, host(2), by_node=False, flow=lost)
        stays = await here.seek(3, host(3), by_node=False, flow=accepted)
        assert here.book.proxy_address(host(3)) is None
        assert isinstance(stays, Address)
        here.book.accepted(stays)
        lost.outcome = accepted.outcome = Outcome.LOST
        await eventually(lambda: here.nodes == [host(3)])
        assert here.book.proxy_address(host(3)) == stays
        # Whoever has its address by now finds it again.
        assert await here.seek(2, host(2)) == gone


@pytest.mark.parametrize("is_there", [True, False])
async def test_a_listener_is_closed_when_its_node_is_not_named_any_more_and_gone(
    is_there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(new_listeners, "SWEEP", 0.01)
    monkeypatch.setattr(opened_listeners, "EXPIRY", 0.05)
    async with ScriptedNode() as scripted, opening() as here:
        node = Address.parse(scripted.address)
        at = await here.seek(2, node)
        if not is_there:
            await scripted.stop()
            await eventually(lambda: here.nodes == [])
            (text,) = notice_texts(here.events, NoticeKind.ADDRESS_REFUSED)
            assert text.startswith(f"no more listening at {at} in front of {node}: ")
        else:
            await asyncio.sleep(0.2)
            assert here.nodes == [node]


def opened(listeners: OpenedListeners, node_id: int, number: int, now: float) -> OpenedListener:
    """A believed listener."""
    new = listeners.begin(host(number), message_address(node_id, host(number)), now)
    new.listener = Listener(node_id=node_id, upstream=host(number))
    listeners.believe(new, node_id, now)
    return new


def test_the_oldest_address_makes_room_for_a_newer_one_of_its_node() -> None:
    used: set[Listener] = set()
    listeners = OpenedListeners(used.__contains__)
    olds = [opened(listeners, 2, number, number) for number in range(opened_listeners.PER_NODE)]
    for one in olds[:3]:
        assert one.listener is not None
        used.add(one.listener)
    listeners.take_named({host(3)}, HOUR)
    assert listeners.surplus(message_address(2, host(99)), HOUR) is olds[4]
    assert listeners.surplus(message_address(3, host(99)), HOUR) is None
    # One that was named or used just now has to stay.
    listeners.take_named({host(number) for number in range(20)}, HOUR)
    assert isinstance(listeners.surplus(message_address(2, host(99)), HOUR), str)


def test_all_together_have_a_limit_at_which_the_oldest_makes_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(opened_listeners, "LISTENERS", 3)
    listeners = OpenedListeners(lambda listener: False)
    olds = [opened(listeners, number, number, number) for number in range(3)]
    assert listeners.surplus(message_address(9, host(9)), HOUR) is olds[0]
    assert listeners.surplus(message_address(9, host(9)), 10.0) == (
        "3 listeners are open for addresses in messages"
    )


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.booleans(), st.integers(0, 40), st.integers(0, 30)),
        max_size=80,
    )
)
def test_whatever_is_named_nobody_exceeds_the_limits(
    message_addresses: list[tuple[int, bool, int, int]],
) -> None:
    """client or node, by whom, which address, and how much later."""
    listeners, now = OpenedListeners(lambda listener: False), 0.0
    clients = [connection() for _ in range(4)]
    believed: dict[int, set[OpenedListener]] = {}
    requested: dict[int, set[OpenedListener]] = {}
    for who, by_node, number, later in message_addresses:
        now += later
        if listeners.find(host(number)) is not None:
            continue
        flow = a_flow(clients[who])
        message = message_address(who, host(number), by_node=by_node, flow=flow)
        surplus = listeners.surplus(message, now)
        if isinstance(surplus, str):
            continue
        if surplus is not None:
            assert by_node
            assert now - surplus.named_at > opened_listeners.SETTLED
            listeners.remove(surplus)
            believed[who].remove(surplus)
        new = listeners.begin(host(number), message, now)
        new.listener = Listener(node_id=who, upstream=host(number))
        if by_node:
            listeners.believe(new, who, now)
        else:
            new.requests.add(flow)
        (believed if by_node else requested).setdefault(who, set()).add(new)
    assert all(len(one) <= opened_listeners.PER_NODE for one in believed.values())
    assert all(len(one) <= opened_listeners.PER_CONNECTION for one in requested.values())
