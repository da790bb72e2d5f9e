"""A sandbox controller sends nothing to an address that does not count."""

import asyncio

import pytest

from kwire.controller.raft import RaftEvent, RequestFailed, ResponseReceived, Send
from kwire.controller.raft.endpoints import PeerNode
from kwire.controller.sandbox.shadows import ShadowChannels
from kwire.messages.a18_api_versions import ApiVersionsRequest
from scripted_node import ScriptedNode


@pytest.mark.parametrize("may_reach", [True, False])
async def test_a_voter_is_asked_only_where_its_address_counts(may_reach: bool) -> None:
    events: asyncio.Queue[RaftEvent] = asyncio.Queue()
    async with asyncio.timeout(60), ScriptedNode() as node:
        channels = ShadowChannels(
            lambda address: may_reach, client_id="test", request_timeout_ms=30_000
        )
        to = PeerNode(id=3009, host="127.0.0.1", port=node.port)
        request = Send(correlation=1, destination=to, request=ApiVersionsRequest())
        channels.send(request, events.put_nowait)
        event = await events.get()
        await channels.close()
        assert isinstance(event, ResponseReceived if may_reach else RequestFailed)
        assert bool(node.asked) is may_reach
