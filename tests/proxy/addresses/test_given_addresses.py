"""An address that the proxy gave out outlives it: the next run listens there, or knows its node."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from kwire.net.address import Address
from kwire.proxy import Event, Listener, NoticeKind, Outcome, Proxy
from kwire.proxy.addresses import AddressBook, NewListeners, new_listeners
from kwire.proxy.data_path import given_addresses
from kwire.proxy.data_path.allowed_nodes import AddressRule, AllowedNodes
from kwire.proxy.data_path.given_addresses import (
    BadAddressFile,
    CannotKeep,
    GivenAddress,
    GivenAddresses,
)
from kwire.proxy.flows.node_addresses import NodeRole
from real_kafka import free_port
from scripted_node import ScriptedNode
from tests.support.eventually import eventually
from tests.support.proxy.addresses.address_books import a_flow, message_address
from tests.support.proxy.notices import notice_texts

FIRST = Listener(node_id=1, upstream=Address("node-1.test", 9092))
ALLOWED = AllowedNodes([AddressRule.parse(rule) for rule in ("*.test", "127.0.0.0/8:1-65535")])
TWO, TWO_SSL = Address("node-2.test", 9092), Address("node-2.test", 9093)


@dataclass
class Run:
    """One run of a proxy that rewrites."""

    proxy: Proxy
    book: AddressBook
    events: list[Event]

    async def seek(
        self,
        node_id: int | None,
        address: Address,
        name: str = "",
        *,
        by_node: bool = True,
        role: NodeRole = NodeRole.BROKER,
    ) -> Address | str:
        """Return what a message gets that names an address."""
        future: asyncio.Future[Address | str] = asyncio.get_running_loop().create_future()
        named = replace(
            message_address(node_id, address, by_node=by_node, listener_name=name), role=role
        )
        self.book.request_listener(named, future.set_result)
        return await future

    @property
    def refusals(self) -> list[str]:
        """The notices of addresses."""
        return notice_texts(self.events, NoticeKind.ADDRESS_REFUSED)


@asynccontextmanager
async def run_of_proxy(
    file: Path | None = None,
    *listeners: Listener,
    ports: range = range(0),
    host: str | None = None,
    allowed: AllowedNodes = ALLOWED,
) -> AsyncIterator[Run]:
    events: list[Event] = []
    book = AddressBook(host)
    async with (
        GivenAddresses(file, ports) as given,
        Proxy(listeners or (FIRST,), sinks=[events.append]) as proxy,
        NewListeners(proxy, book, allowed, given),
    ):
        yield Run(proxy, book, events)


async def accepts(address: Address) -> bool:
    try:
        _, writer = await asyncio.open_connection(address.host, address.port)
    except ConnectionError:
        return False
    writer.close()
    return True


def read(file: Path) -> tuple[list[GivenAddress], int]:
    """The addresses in a file, and its permissions."""
    kept = GivenAddresses(file)
    kept.read()
    return list(kept), file.stat().st_mode & 0o777


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "addresses.yaml"


async def test_the_next_run_listens_where_this_one_did_before_anybody_asks(file: Path) -> None:
    async with run_of_proxy(file) as run:
        told = await run.seek(2, TWO, "PLAINTEXT")
        assert isinstance(told, Address)
        # What a kill would leave: the file is there as soon as the address is given.
        kept, mode = read(file)
        expected = GivenAddress(given=told, upstream=TWO, node_id=2, listener_name="PLAINTEXT")
        assert expected in kept
        assert mode == 0o600
    async with run_of_proxy(file) as run:
        assert await accepts(told)
        assert run.book.look_up(message_address(2, told)) == told
        assert await run.seek(2, TWO) == told
        assert run.book.node_address(told) == TWO
        assert len(run.proxy.addresses) == 3  # and where the first one was before
        assert run.refusals == []


async def test_what_only_a_request_has_named_is_known_and_not_open(file: Path) -> None:
    async with run_of_proxy(file) as run:
        told = await run.seek(2, TWO, by_node=False)
        assert isinstance(told, Address)
    async with run_of_proxy(file) as run:
        assert not await accepts(told)
        assert run.book.look_up(message_address(2, told)) is None
        assert await run.seek(2, told) == told  # a node has it in its log: it was accepted
        assert await accepts(told)


async def test_a_configured_listener_that_moved_still_answers_at_its_former_port(
    file: Path,
) -> None:
    async with run_of_proxy(file) as run:
        before = run.proxy.addresses[FIRST]
    other = Listener(node_id=1, upstream=FIRST.upstream, listen=Address("127.0.0.1", 0))
    async with run_of_proxy(file, other) as run:
        now = run.book.proxy_address(FIRST.upstream)
        assert now is not None
        assert await accepts(before)
        assert await accepts(now)
        assert run.book.proxy_address(before) == now
        assert run.book.node_address(before) == FIRST.upstream


async def test_a_request_that_ends_while_its_address_is_written_down_harms_nothing(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with run_of_proxy(file) as run:
        flow, writing, may_go_on = a_flow(), asyncio.Event(), asyncio.Event()
        save = GivenAddresses.save

        async def slow(given: GivenAddresses) -> None:
            writing.set()
            await may_go_on.wait()
            await save(given)

        monkeypatch.setattr(GivenAddresses, "save", slow)
        told: list[Address | str] = []
        named = message_address(2, TWO, by_node=False, flow=flow)
        run.book.request_listener(named, told.append)
        await writing.wait()
        flow.outcome = Outcome.LOST
        other = asyncio.create_task(run.seek(3, Address("node-3.test", 9092)))
        await asyncio.sleep(0)
        may_go_on.set()
        assert isinstance(await other, Address)
        await eventually(lambda: told)
        assert isinstance(told[0], Address)


async def test_a_port_that_somebody_else_has_is_told_and_tried_again(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(new_listeners, "SWEEP", 0.01)
    async with run_of_proxy(file) as run:
        told = await run.seek(2, TWO)
        assert isinstance(told, Address)
    with socket.create_server((told.host, told.port)):
        entered = run_of_proxy(file)
        run = await entered.__aenter__()
        (text,) = run.refusals
        assert text.startswith(f"cannot listen at {told}: ")
        assert f"clients and nodes have this address of {TWO}" in text
    await eventually(lambda: any(one.upstream == TWO for one in run.proxy.addresses))
    assert run.book.proxy_address(told) == told
    await entered.__aexit__(None, None, None)


async def test_what_is_not_allowed_any_more_is_told_and_not_opened(file: Path) -> None:
    async with run_of_proxy(file) as run:
        told = await run.seek(2, TWO)
        assert isinstance(told, Address)
    async with run_of_proxy(file, allowed=AllowedNodes([AddressRule.parse("other")])) as run:
        (text,) = run.refusals
        assert text.startswith(f"{told}, given out for {TWO} before, is not used: no allowed node")
        assert not await accepts(told)


OWN = "proxy.test"
SSL = Listener(node_id=2, upstream=TWO_SSL)


@pytest.mark.parametrize(
    ("name", "known"),
    [("", {TWO: ""}), ("SSL", {TWO: "PLAINTEXT", TWO_SSL: "SSL"}), ("", {TWO: "A", TWO_SSL: "B"})],
    ids=["only one", "by its name", "one of two"],
)
async def test_an_address_of_an_earlier_run_is_that_of_the_nodes_listener(
    name: str, known: dict[Address, str]
) -> None:
    """The file is lost: the host is the proxy's, and the id beside it is the node's."""
    listeners = [Listener(node_id=2, upstream=upstream) for upstream in known]
    allowed = AllowedNodes([AddressRule.parse("node-2.test")])
    async with run_of_proxy(None, FIRST, *listeners, host=OWN, allowed=allowed) as run:
        for upstream, listener_name in known.items():
            run.book.look_up(message_address(2, upstream, listener_name=listener_name))
        former = Address(OWN, 45123)
        told = await run.seek(2, former, name)
        if name or len(known) == 1:
            assert told == run.book.proxy_address(TWO_SSL if name else TWO)
        else:
            assert told == (
                "an earlier run of the proxy gave it out, and no listener is known to be in front"
                f" of its node: give --listen 2@{former}=HOST:PORT, with the node's own address,"
                " or restart the node"
            )
        assert len(run.proxy.addresses) == 1 + len(known)


async def test_a_node_on_the_proxys_host_is_told_from_its_own_former_port() -> None:
    async with ScriptedNode() as scripted, ScriptedNode() as gone:
        node, former = Address.parse(scripted.address), Address.parse(gone.address)
        await gone.stop()
        listener = Listener(node_id=2, upstream=TWO)
        async with run_of_proxy(None, FIRST, listener) as run:
            told = await run.seek(2, node)
            assert isinstance(told, Address)
            assert run.book.node_address(told) == node
            # Nothing answers there; of the node's two listeners one has another name.
            run.book.look_up(message_address(2, node, listener_name="INTERNAL"))
            assert await run.seek(2, former, "PLAINTEXT") == run.proxy.addresses[listener]
            # A voter that is down is no broker, unless its listener is known to be the same.
            voter = await run.seek(2, former, "CONTROLLER", role=NodeRole.CONTROLLER)
            assert isinstance(voter, Address)
            assert run.book.node_address(voter) == former


async def test_a_node_that_is_not_there_yet_gets_its_listener() -> None:
    async with ScriptedNode() as gone:
        former = Address.parse(gone.address)
        await gone.stop()
        async with run_of_proxy(None, FIRST) as run:
            # A node that is not there yet keeps its address, as it has no listener.
            later = await run.seek(3, former)
            assert isinstance(later, Address)
            assert run.book.node_address(later) == former


async def test_a_port_that_another_node_has_now_is_still_the_first_ones_by_id() -> None:
    two, three = (Listener(node_id=id, upstream=Address(f"node-{id}.test", 9092)) for id in (2, 3))
    async with run_of_proxy(None, two, three) as run:
        addresses = run.proxy.addresses
        named = message_address(2, addresses[three])
        assert run.book.look_up(named) == addresses[two]
        assert run.book.look_up(message_address(3, addresses[three])) == addresses[three]


async def test_ports_come_from_a_range_by_the_nodes_ids(file: Path) -> None:
    # The system gives the neighbours of a port of its own to other tests meanwhile.
    taken = free_port()
    with socket.create_server(("127.0.0.1", taken)):
        ports = range(taken - 2, taken + 2)  # the third is taken
        async with run_of_proxy(None, ports=ports) as run:
            told = [await run.seek(id, Address(f"node-{id}.test", 9092)) for id in (2, 4, 5, 8)]
        wanted = [Address("127.0.0.1", taken + offset) for offset in (1, -2, -1)]
        assert told[:3] == wanted
        assert str(told[3]).startswith("no listener could be opened for it: cannot listen at ")
        # In the range nothing is a node's: an earlier run gave it out.
        async with run_of_proxy(None, ports=ports) as run:
            assert str(await run.seek(7, wanted[0])).startswith("an earlier run of the proxy")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("addresses: [{given: nowhere, upstream: a:1}]", "addresses[1].given: 'nowhere' is no"),
        ("addresses: [{given: a:1}]", "addresses[1].upstream: this key is needed"),
        ("[", "this is no YAML"),
        ("addresses: [{given: a:0, upstream: b:1}]", "addresses[1].given: a:0 is no port that"),
        ("addresses: [{given: a:1, upstream: b:0}]", "addresses[1].upstream: b:0 is no port that"),
        *(
            (f"addresses: [{{given: a:1, upstream: b:1, node: {node}}}]", "addresses[1].node: ")
            for node in (-1, 2**31, 10**30, "x")
        ),
        ("addresses: [{given: A:1, upstream: a:1}]", "addresses: [1] leads back to a:1, which"),
        (
            "addresses: [{given: c:1, upstream: a:1}, {given: a:1, upstream: b:1},"
            " {given: b:1, upstream: a:1}]",
            "addresses: [1] leads back to a:1, which the proxy itself gives out: an upstream is",
        ),
        (
            "addresses: [{given: a:1, upstream: b:1}, {given: A:1, upstream: b:2}]",
            "addresses: [2] gives out A:1 a second time: remove one of them",
        ),
    ],
)
def test_a_file_that_cannot_be_read_ends_the_start(file: Path, text: str, said: str) -> None:
    async def start() -> None:
        async with run_of_proxy(file):
            pass

    file.write_text(text)
    with pytest.raises(BadAddressFile) as caught:
        asyncio.run(start())
    assert f"{file}: " in str(caught.value)
    assert said in str(caught.value)
    assert file.read_text() == text


async def test_a_file_that_cannot_be_written_ends_the_start_and_is_told_later(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CannotKeep, match="cannot be written: No such file"):
        async with run_of_proxy(file / "none" / "addresses.yaml"):
            pass
    async with run_of_proxy(file) as run:

        def fail(path: Path, text: str) -> None:
            raise CannotKeep(f"{path} cannot be written: disk full")

        monkeypatch.setattr(given_addresses, "_write", fail)
        assert isinstance(await run.seek(2, TWO), Address)
        (text,) = run.refusals
        assert text == (
            f"{file} cannot be written: disk full; a restarted proxy does not know what it has"
            " given out since"
        )


def test_the_addresses_that_no_node_has_named_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given_addresses, "MOST", 2)
    given = GivenAddresses()
    at = [
        GivenAddress(given=Address("here", port), upstream=TWO, believed=port != 2)
        for port in range(1, 5)
    ]
    for address in at[:3]:
        given.add(address)
    assert [*given] == [at[0], at[2]]
    given.add(at[3])
    assert [*given] == [at[2], at[3]]


async def test_a_link_to_the_file_stays_one(tmp_path: Path) -> None:
    link, real = tmp_path / "link.yaml", tmp_path / "real.yaml"
    link.symlink_to(real)
    async with GivenAddresses(link):
        with pytest.raises(CannotKeep):
            await GivenAddresses(real).__aenter__()
    assert link.is_symlink()
    assert real.read_text().endswith("addresses: []\n")


def test_what_is_no_regular_file_is_neither_waited_for_nor_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    with pytest.raises(BadAddressFile, match="no regular file"):
        GivenAddresses(pipe).read()


async def test_two_proxies_do_not_share_a_file(file: Path) -> None:
    async with run_of_proxy(file) as run:
        told = await run.seek(2, TWO)
        with pytest.raises(CannotKeep) as caught:
            async with run_of_proxy(file):
                pass
        lock = file.with_name(f".{file.name}.lock")
        assert str(caught.value) == (
            f"{file} is another running proxy's, which holds {lock}: give each proxy a file of its"
            " own"
        )
        assert read(file)[0][-1].given == told  # to look at it needs no lock
    async with run_of_proxy(file) as run:
        assert run.book.proxy_address(TWO) == told


async def test_what_is_written_can_be_read_whatever_messages_say(file: Path) -> None:
    async with GivenAddresses(file) as given:
        for number, node_id in enumerate((-1, -(2**31), 0, 2**31 - 1, None), 1):
            for host in ("here", "HERE"):
                at = Address(host, number)
                given.add(GivenAddress(given=at, upstream=TWO, node_id=node_id))
        await given.save()
    assert [one.node_id for one in read(file)[0]] == [None, None, 0, 2**31 - 1, None]


async def test_no_listener_connects_to_itself() -> None:
    port = free_port()
    node = Address("LOCALHOST", port)
    async with run_of_proxy(None, ports=range(port, port + 1)) as run:
        told = await run.seek(0, node, by_node=False)
        assert told == (
            f"no listener could be opened for it: cannot listen at 127.0.0.1:{port}: the proxy"
            " would connect to itself"
        )
        assert not await accepts(node)
