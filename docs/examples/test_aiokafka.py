"""aiokafka: a consumer whose first fetches fail reads all the same.

pytest docs/examples/test_aiokafka.py
"""

import asyncio

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from kwire.testing import FaultProxy


def test_a_consumer_survives_fetches_that_fail(kwire_proxy: FaultProxy) -> None:
    asyncio.run(write_and_read(kwire_proxy))
    assert kwire_proxy.unused() == []


async def write_and_read(proxy: FaultProxy) -> None:
    """Write a record and read it again."""
    async with AIOKafkaProducer(bootstrap_servers=proxy.bootstrap_servers) as producer:
        await producer.send_and_wait("aiokafka", b"first")
    proxy.on("Fetch", topic="aiokafka").error("NOT_LEADER_OR_FOLLOWER").times(2)
    async with AIOKafkaConsumer(
        "aiokafka", bootstrap_servers=proxy.bootstrap_servers, auto_offset_reset="earliest"
    ) as consumer:
        record = await asyncio.wait_for(consumer.getone(), 60)
    assert record.value == b"first"
