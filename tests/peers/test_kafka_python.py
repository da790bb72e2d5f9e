"""kafka-python, which our tests use as an independent client, leaves nothing to the next test."""

from __future__ import annotations

import gc
import socket

import pytest


@pytest.mark.parametrize("listens", [True, False], ids=["under-way", "refused"])
def test_a_connection_that_is_given_up_is_closed_without_a_warning(listens: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        host, port = server.getsockname()
        if not listens:
            server.close()
        _give_up(host, port)
        gc.collect()


def _give_up(host: str, port: int) -> None:
    """Begin to connect, and close the client before it knows how that ends."""
    from kafka.net.inet import create_connection
    from kafka.net.selector import NetworkSelector

    net = NetworkSelector()
    net.call_soon(lambda: create_connection(net, host, port))
    net.poll(timeout_ms=0)
    net.close()
