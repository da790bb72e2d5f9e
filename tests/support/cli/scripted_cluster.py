"""Scripted brokers for commands, which have an event loop of their own: they run in a thread."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.admin.scripted_brokers import ScriptedBrokers, scripted_brokers

PATIENCE = 60.0


@contextmanager
def scripted_cluster(count: int = 1) -> Iterator[ScriptedBrokers]:
    """Run so many brokers; a test may set their scripts at any time."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    brokers = scripted_brokers(count)
    try:
        yield asyncio.run_coroutine_threadsafe(brokers.__aenter__(), loop).result(PATIENCE)
    finally:
        closing = brokers.__aexit__(None, None, None)
        asyncio.run_coroutine_threadsafe(closing, loop).result(PATIENCE)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE)
        loop.close()


def at(brokers: ScriptedBrokers) -> tuple[str, str]:
    """Return the option that sends a command to the first of the brokers."""
    return "--bootstrap-server", brokers.addresses[0]
