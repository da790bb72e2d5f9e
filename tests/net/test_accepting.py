"""A listening socket may be closed in any moment: nobody waits for a connection half made."""

import asyncio
import socket

import pytest

from tests.support.proxy.data_path.proxied_node import grant, proxied


@pytest.mark.parametrize("turns", range(6))
@pytest.mark.parametrize("drained", [False, True], ids=["closed", "drained"])
async def test_a_proxy_ends_in_the_moment_in_which_it_takes_a_connection(
    turns: int, drained: bool
) -> None:
    async with proxied(grant, []) as (address, proxy):
        with socket.create_connection((address.host, address.port)):
            for _ in range(turns):
                await asyncio.sleep(0)
            async with asyncio.timeout(60):
                if drained:
                    await proxy.drain(0)
                await proxy.close()
            assert proxy.connections == ()
