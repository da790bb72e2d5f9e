"""A node that ends its listening at one request, as a process does that crashes."""

from __future__ import annotations

import asyncio

from kwire.codec.declaration import Request, Response
from kwire.conform.target import Target, examine_target
from kwire.conform.vocabulary import ServerRole
from kwire.net.address import Address
from kwire.net.frames import RequestFrame
from scripted_node import HANG_UP, Raw, Script, ScriptedNode


class MortalNode(ScriptedNode):
    """Dies of a request; `restart` starts it anew. restarts: how often that was called."""

    def __init__(self, scripts: dict[type[Request], Script], deadly: type[Request]) -> None:
        super().__init__({**scripts, deadly: self._die})
        self.restarts = 0
        self._deaths: set[asyncio.Task[None]] = set()

    def _die(self, frame: RequestFrame) -> Response | Raw:
        self._deaths.add(asyncio.get_running_loop().create_task(self.stop()))
        return HANG_UP

    async def restart(self) -> None:
        """Listen again, on the same port."""
        self.restarts += 1
        await asyncio.gather(*self._deaths)
        self._deaths.clear()
        await self.start()


async def target_of(node: ScriptedNode) -> Target:
    """Return a node as a target; it is taken for a broker."""
    return await examine_target(Address.parse(node.address), role=ServerRole.BROKER)
