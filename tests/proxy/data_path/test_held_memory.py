"""The memory for held frames: nobody has it all, and what must be seen never passes without it."""

import asyncio
from contextlib import suppress

import pytest

from kwire.messages.a52_vote import VoteRequest
from kwire.messages.a60_describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest
from kwire.net.address import Address
from kwire.net.frames import decode_response
from kwire.proxy import (
    Call,
    Copies,
    Drop,
    Event,
    Filter,
    Filters,
    Limits,
    Listener,
    Notice,
    NoticeKind,
    Proxy,
)
from kwire.proxy.addresses import AddressBook
from kwire.proxy.addresses.rewrite_endpoints import RewriteEndpoints
from kwire.proxy.data_path.gate import FRAME_HELD
from kwire.proxy.flows.interest import Direction
from tests.support.proxy.data_path.proxied_node import node
from tests.support.proxy.dialogue import answered, asked
from tests.support.proxy.filter_dialogue import HeldDialogue
from tests.support.virtual_time import in_virtual_time

VOTE = asked(VoteRequest(cluster_id="c" * 60), 2, 1)
DESCRIBE = asked(DescribeClusterRequest(endpoint_type=2), 1, 1)
DESCRIBED = answered(
    DescribeClusterResponse(brokers=[DescribeClusterBroker(broker_id=4, host="node", port=9093)]),
    1,
    1,
)


class Unseen(Filter):
    """Drops every Vote, and lets none pass unseen."""

    def must_see(self, key: int, direction: Direction, size: int) -> bool:
        return True

    def on_vote_request(self, request: VoteRequest, call: Call) -> Drop:
        return Drop()


def dialogue(memory: Copies, client: str, *filters: Filter) -> HeldDialogue:
    """A connection of this client, whose frames are held in this memory."""
    made = HeldDialogue(filters=Filters(filters), memory=memory)
    made.connection.client = client
    return made


def unfinished(frame: bytes, size: int) -> bytes:
    """The head of a request and bytes behind it: all but the last one of a long frame."""
    return (size - 4).to_bytes(4, "big") + frame[4:] + bytes(size - len(frame) - 1)


def test_what_one_connection_sends_leaves_room_for_the_others() -> None:
    memory = Copies(40_000, 40_000)
    hogs = [dialogue(memory, f"10.0.0.1:{port}", Unseen()) for port in range(8)]
    for hog in hogs:
        assert hog.ask(unfinished(VOTE, 9_000)) == b""
    assert memory.held == 2 * 8_999
    assert [len(hog.reasons) for hog in hogs] == [0] * 2 + [1] * 6
    other = dialogue(memory, "10.0.0.2:1", Unseen())
    assert (other.ask(VOTE), other.reasons) == (b"", [])
    for hog in hogs:
        hog.hang_up()
    assert (memory.held, memory.shares) == (0, {})


def test_a_request_longer_than_a_quarter_of_the_memory_is_not_held() -> None:
    memory = Copies(40_000, 40_000)
    one = dialogue(memory, "10.0.0.1:1", Unseen())
    assert one.ask(unfinished(VOTE, 11_000)) == b""
    assert one.reasons == [
        "Vote v2: the request did not pass, since filters must see it: 10996 bytes, 10000 are held"
    ]
    assert memory.held == 0


@pytest.mark.parametrize("memory", [Copies(20, 1000), Copies(1000, 20)])
def test_a_request_that_must_be_seen_does_not_pass_and_nothing_behind_it(memory: Copies) -> None:
    one = dialogue(memory, "10.0.0.1:1", Unseen())
    ahead, behind = asked(DescribeClusterRequest(), 1, 1), asked(DescribeClusterRequest(), 1, 3)
    assert one.ask(ahead + VOTE[:50], VOTE[50:] + behind) == ahead
    assert one.ask(behind) == ahead
    assert len(one.reasons) == 1
    (notice,) = one.notices
    assert (notice.kind, notice.text) == (NoticeKind.NOT_FILTERED, one.reasons[0])
    one.hang_up()
    assert (memory.held, memory.shares) == (0, {})
    assert one.flows[1].problems[0].startswith("the request did not pass, since filters must see")


def test_a_response_that_must_be_seen_does_not_pass() -> None:
    memory = Copies(1000, 1000)
    one = dialogue(memory, "10.0.0.1:1", RewriteEndpoints(AddressBook()))
    one.ask(DESCRIBE)
    assert memory.take(1000)
    assert (one.answer(DESCRIBED), len(one.reasons)) == (b"", 1)


def test_the_longest_frames_leave_room_for_the_first_bytes_of_others() -> None:
    memory = Copies(FRAME_HELD)
    assert memory.take(55 << 20)
    long, short = (dialogue(memory, f"10.0.0.{n}:1", Unseen()) for n in (1, 2))
    part = unfinished(VOTE, 3 << 20)
    long.ask(part[: 3 << 19], part[3 << 19 :])
    assert len(long.reasons) == 1
    assert (short.ask(VOTE), short.reasons) == (b"", [])


def test_addresses_are_rewritten_while_another_client_sends_a_long_request() -> None:
    book, memory = AddressBook(advertised_host="here"), Copies(40_000, 40_000)
    book.add(Address("node", 9093), Address("0.0.0.0", 19093))
    rewrite = RewriteEndpoints(book)
    hog, other = (dialogue(memory, f"10.0.0.1:{n}", rewrite) for n in (1, 2))
    hog.ask(unfinished(asked(AddRaftVoterRequest(), 1, 1), 40_000))
    other.ask(DESCRIBE)
    body = decode_response(other.answer(DESCRIBED)[4:], 60, 1).body
    assert isinstance(body, DescribeClusterResponse)
    assert [(node.host, node.port) for node in body.brokers] == [("here", 19093)]


@in_virtual_time
async def test_a_byte_now_and_then_does_not_keep_memory() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    events: list[Event] = []
    limits = Limits(progress=0.5, step=1)
    async with node(silent) as upstream:
        listener = Listener(node_id=1, upstream=upstream)
        filters = Filters([Unseen()])
        async with Proxy(
            [listener], sinks=[events.append], limits=limits, filters=filters
        ) as proxy:
            address = proxy.addresses[listener]
            reader, writer = await asyncio.open_connection(address.host, address.port)
            writer.write(unfinished(VOTE, 1 << 18)[: len(VOTE)])
            gone, began = asyncio.create_task(reader.read()), asyncio.get_running_loop().time()
            while not gone.done() and asyncio.get_running_loop().time() - began < 10.0:
                writer.write(b"\0")
                await asyncio.sleep(0.1)
            took = asyncio.get_running_loop().time() - began
            writer.close()
            with suppress(ConnectionError):
                await gone
    # Half a second, and one for 256 KiB.
    assert 1.5 <= took < 2.5
    said = [event.text for event in events if isinstance(event, Notice)]
    assert "the client did not send the whole of a frame that filters wait for in time" in said
