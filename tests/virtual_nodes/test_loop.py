"""The virtual event loop and its network: every process has its own time, streams lose nothing."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from uuid import UUID

import pytest

from virtual_nodes.interruption import NodeInterruption, Point
from virtual_nodes.loop import NothingScheduled
from virtual_nodes.virtual_network import NetworkLoop, VirtualNetwork

PORT = 1000


def run(scenario: Callable[[NetworkLoop], Awaitable[None]], seed: int = 1) -> NetworkLoop:
    """Run a coroutine in a new world."""
    loop = NetworkLoop(Random(seed), 0.0, VirtualNetwork(Random(seed)))

    async def main() -> None:
        await scenario(loop)
        await asyncio.sleep(1)  # ends of connections arrive

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(main())
    return loop


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send everything back."""
    while data := await reader.read(1 << 20):
        writer.write(data)
    writer.close()


async def listen(loop: NetworkLoop) -> None:
    await loop.run_in("server", asyncio.start_server(echo, "127.0.0.1", PORT))


def test_sleeping_takes_virtual_time_only() -> None:
    async def scenario(loop: NetworkLoop) -> None:
        await asyncio.sleep(86_400)

    assert 86_400 <= run(scenario).now < 86_402


def test_a_process_that_stands_still_runs_its_timers_later_and_in_order() -> None:
    ran: list[tuple[str, float]] = []

    async def scenario(loop: NetworkLoop) -> None:
        def note(name: str) -> None:
            ran.append((name, loop.time()))

        context = loop.process("a").context()
        for name, delay in (("second", 2.0), ("first", 1.0), ("late", 9.0)):
            loop.call_at(delay, note, name, context=context)
        loop.process("a").stand_still(loop.now, 5.0)
        await asyncio.sleep(3)
        assert ran == []
        await asyncio.sleep(10)

    run(scenario)
    assert [(name, int(time)) for name, time in ran] == [("first", 5), ("second", 5), ("late", 9)]


def test_a_process_that_stands_still_within_a_callback_sends_late() -> None:
    async def scenario(loop: NetworkLoop) -> None:
        await listen(loop)

        async def send() -> float:
            reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
            loop.current.stand_still(loop.now, 4.0)
            writer.write(b"late")
            assert await reader.readexactly(4) == b"late"
            writer.close()
            return loop.time()

        assert 4.0 < await loop.run_in("client", send()) < 4.1

    run(scenario)


def test_a_packet_that_is_lost_after_a_standstill_is_late_from_then_on() -> None:
    async def scenario(loop: NetworkLoop) -> None:
        await listen(loop)

        async def send() -> None:
            reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
            loop.network.faults.loss = 1.0
            loop.current.stand_still(loop.now, 4.0)
            sent = loop.time()
            writer.write(b"lost at first")
            assert loop.network.retransmitted({"client", "server"}, sent, sent + 1.0) > 0
            loop.network.faults.loss = 0.0
            assert await reader.readexactly(13) == b"lost at first"
            writer.close()

        await loop.run_in("client", send())

    run(scenario)


def test_what_is_sent_while_two_processes_are_cut_off_arrives_in_order_afterwards() -> None:
    async def scenario(loop: NetworkLoop) -> None:
        await listen(loop)
        message = bytes(range(256)) * 1000

        async def send() -> bytes:
            reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
            loop.network.cut("client", "server")
            writer.write(message)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(reader.read(1), 10)
            loop.network.heal()
            writer.write(b"end")
            answer = await reader.readexactly(len(message) + 3)
            writer.close()
            return answer

        assert await loop.run_in("client", send()) == message + b"end"

    run(scenario)


def test_a_connection_is_opened_only_when_the_network_is_whole() -> None:
    async def scenario(loop: NetworkLoop) -> None:
        await listen(loop)
        loop.network.cut("test", "server")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.open_connection("127.0.0.1", PORT), 5)
        loop.network.heal()
        _, writer = await asyncio.open_connection("127.0.0.1", PORT)
        writer.close()

    run(scenario)


def test_who_writes_to_a_connection_that_is_closed_is_told_so() -> None:
    async def scenario(loop: NetworkLoop) -> None:
        await listen(loop)
        reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
        writer.transport.abort()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", PORT + 1)
        assert await reader.read() == b""

    run(scenario)


def test_a_world_in_which_nothing_can_happen_any_more_ends_with_an_error() -> None:
    async def scenario(loop: NetworkLoop) -> None:
        await loop.create_future()

    with pytest.raises(NothingScheduled):
        run(scenario)


def test_an_interruption_stops_a_process_within_a_function_of_the_controller() -> None:
    from kwire.controller.raft.replica_key import ReplicaKey

    times: list[float] = []

    async def scenario(loop: NetworkLoop) -> None:
        interruption = NodeInterruption(loop, "a", Point(calls=1), 7.0)

        async def work() -> None:
            times.append(loop.time())
            ReplicaKey.from_wire(1, UUID(int=1))
            times.append(loop.time())

        await loop.run_in("a", work())
        assert interruption.place is not None

    run(scenario)
    before, after = times
    assert after - before == pytest.approx(7.0)
