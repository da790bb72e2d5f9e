"""A killed process sends nothing, a machine without power says nothing, clocks can be wrong."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random

import pytest

from virtual_nodes.faults import Fault
from virtual_nodes.virtual_network import NetworkLoop, VirtualNetwork

PORT = 1000


def run(scenario: Callable[[NetworkLoop], Awaitable[None]]) -> NetworkLoop:
    """Run a coroutine in a new world; bury the dead processes at its end."""
    loop = NetworkLoop(Random(1), 0.0, VirtualNetwork(Random(1)))

    async def main() -> None:
        try:
            await scenario(loop)
            await asyncio.sleep(1)  # ends of connections arrive
        finally:
            dead = [process for process in loop.processes.values() if process.is_dead]
            for task in [task for process in dead for task in process.bury()]:
                await asyncio.wait([task])

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(main())
    return loop


def kill(loop: NetworkLoop, name: str, *, power: bool) -> None:
    process = loop.process(name)
    process.die(power=power)
    loop.network.ended(process)


async def say_ten_times(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        for number in range(10):
            writer.write(bytes([number]))
            await asyncio.sleep(1.0)
    finally:
        writer.write(b"cleanup")
        writer.close()


async def connected(loop: NetworkLoop) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Start a process that sends a byte a second, and connect to it."""
    await loop.run_in("server", asyncio.start_server(say_ten_times, "127.0.0.1", PORT))
    return await asyncio.open_connection("127.0.0.1", PORT)


def test_a_killed_process_sends_nothing_more_and_its_peers_are_told() -> None:
    async def scenario(loop: NetworkLoop) -> None:
        reader, writer = await connected(loop)
        assert await reader.readexactly(2) == b"\x00\x01"
        kill(loop, "server", power=True)
        with pytest.raises(ConnectionResetError):
            await asyncio.wait_for(reader.read(1), 1.0)
        writer.close()

    run(scenario)


def test_the_port_of_a_killed_process_is_free() -> None:
    async def scenario(loop: NetworkLoop) -> None:
        _, writer = await connected(loop)
        with pytest.raises(OSError, match="taken"):
            await loop.run_in("other", asyncio.start_server(say_ten_times, "127.0.0.1", PORT))
        kill(loop, "server", power=True)
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", PORT)
        loop.started_again("server")
        await loop.run_in("server", asyncio.start_server(say_ten_times, "127.0.0.1", PORT))
        reader, again = await asyncio.open_connection("127.0.0.1", PORT)
        assert await reader.readexactly(1) == b"\x00"
        again.close()
        writer.close()

    run(scenario)


def test_a_machine_without_power_is_silent_until_it_starts_again() -> None:
    async def scenario(loop: NetworkLoop) -> None:
        reader, writer = await connected(loop)
        assert await reader.readexactly(1) == b"\x00"
        kill(loop, "server", power=False)
        writer.write(b"into the dark")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(1), 60.0)
        loop.started_again("server")
        loop.network.started_again("server")
        with pytest.raises(ConnectionResetError):
            await asyncio.wait_for(reader.read(1), 1.0)
        writer.close()

    run(scenario)


def test_no_timer_and_no_task_of_a_killed_process_runs() -> None:
    ran: list[float] = []

    async def tick(loop: NetworkLoop) -> None:
        while True:
            ran.append(loop.now)
            await asyncio.sleep(1.0)

    async def scenario(loop: NetworkLoop) -> None:
        loop.start_in("a", tick(loop))
        await asyncio.sleep(2.5)
        kill(loop, "a", power=True)
        await asyncio.sleep(10.0)

    run(scenario)
    assert [round(time) for time in ran] == [0, 1, 2]


def test_a_cut_of_one_way_leaves_the_other() -> None:
    async def scenario(loop: NetworkLoop) -> None:
        received: list[bytes] = []

        async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"hello")
            while data := await reader.read(100):
                received.append(data)
            writer.close()

        await loop.run_in("server", asyncio.start_server(note, "127.0.0.1", PORT))
        reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
        assert await reader.readexactly(5) == b"hello"
        loop.network.cut_one_way("server", "test")
        writer.write(b"this way")
        await asyncio.sleep(1.0)
        assert b"".join(received) == b"this way"
        assert not loop.network.occurred[Fault.HELD_MESSAGE]
        writer.close()
        loop.network.heal()
        loop.network.cut_one_way("test", "server")
        with pytest.raises(TimeoutError):  # a handshake needs both ways
            await asyncio.wait_for(asyncio.open_connection("127.0.0.1", PORT), 5.0)
        loop.network.heal()

    run(scenario)


def test_a_clock_that_jumps_brings_timers_forward_in_its_process_only() -> None:
    ended: dict[str, tuple[float, float]] = {}

    async def sleep(loop: NetworkLoop, name: str) -> None:
        began = loop.time()
        await asyncio.sleep(10.0)
        ended[name] = loop.now, loop.time() - began

    async def scenario(loop: NetworkLoop) -> None:
        sleepers = [loop.start_in(name, sleep(loop, name)) for name in ("wrong", "right")]
        await asyncio.sleep(2.0)
        loop.process("wrong").clock_error += 5.0
        await asyncio.gather(*sleepers)

    run(scenario)
    assert ended["wrong"] == pytest.approx((5.0, 10.0), abs=0.01)
    assert ended["right"] == pytest.approx((10.0, 10.0), abs=0.01)
