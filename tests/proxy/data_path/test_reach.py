"""A storm of clients reaches a node a few at a time, and each of them has the whole time for it."""

import asyncio

import pytest

from kwire.net.address import Address
from kwire.proxy.data_path import reach as reach_module
from kwire.proxy.data_path.reach import DIALS, NodeDials, Refusal, Upstream, reach
from tests.support.virtual_time import in_virtual_time

NODE = Address("node-1", 9092)
STORM = 10 * DIALS


class Acceptor:
    """A node that accepts a connection after some seconds. most: that were dialled at once."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._now = 0
        self.most = self.dialled = 0

    async def connect(self, upstream: Upstream, target: Address, protocol: object) -> None:
        """Stands for a connection to the node."""
        self._now += 1
        self.dialled += 1
        self.most = max(self.most, self._now)
        try:
            await asyncio.sleep(self._seconds)
        finally:
            self._now -= 1


async def storm(acceptor: Acceptor, monkeypatch: pytest.MonkeyPatch) -> list[Refusal | None]:
    monkeypatch.setattr(reach_module, "_connect", acceptor.connect)
    upstream = Upstream((NODE,), 2.0, (NodeDials().of(NODE),))
    attempts = (reach(upstream, asyncio.Protocol(), lambda target: None) for _ in range(STORM))
    return await asyncio.gather(*attempts)


@in_virtual_time
async def test_whoever_waits_for_a_turn_has_the_whole_time_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    acceptor = Acceptor(1.0)
    assert await storm(acceptor, monkeypatch) == [None] * STORM
    assert acceptor.most == DIALS


@in_virtual_time
async def test_a_node_that_does_not_answer_keeps_nobody_waiting_for_all_who_came_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    began = asyncio.get_running_loop().time()
    acceptor = Acceptor(60.0)
    refusals = await storm(acceptor, monkeypatch)
    assert {refusal.reason for refusal in refusals if refusal is not None} == {
        f"{NODE} does not accept connections: no answer in time"
    }
    assert None not in refusals
    assert asyncio.get_running_loop().time() - began == pytest.approx(4.0, abs=0.5)
    assert acceptor.dialled == 2 * DIALS


async def test_a_node_has_one_line_of_waiting_whoever_connects_to_it() -> None:
    dials = NodeDials()
    first = dials.of(NODE)
    assert dials.of(Address("node-1", 9092)) is first
    assert dials.of(Address("node-2", 9092)) is not first
