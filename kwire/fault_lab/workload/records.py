"""Records: idempotent producers append numbered records, each until it is acknowledged (KIP-98).

A batch is sent again, with the same sequence, until its fate is known, as producers do; the broker
must store it once.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass

from kwire.batches import Record, build_batch
from kwire.error_codes import ErrorCode, name
from kwire.errors import AnswerLost, KwireError
from kwire.fault_lab.history import Fate
from kwire.fault_lab.session import WorkloadClient
from kwire.fault_lab.workload.brokers import BrokerClient
from kwire.fault_lab.workload.pace import wait_turn
from kwire.messages.a00_produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from kwire.messages.a22_init_producer_id import InitProducerIdRequest, InitProducerIdResponse

PRODUCE = 11
"""The version of Produce: the last that names topics, and does not end transactions by itself."""

PATIENCE = 40.0
"""Seconds after which a producer gives a batch up."""

PAUSE = 0.2
MOST_RECORDS = 4

_AGAIN = {
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.LEADER_NOT_AVAILABLE,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    ErrorCode.NETWORK_EXCEPTION,
    ErrorCode.UNKNOWN_LEADER_EPOCH,
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.KAFKA_STORAGE_ERROR,
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
}


@dataclass(slots=True, eq=False)
class ProducerState:
    """id, epoch: as InitProducerId gave them. sequence: of the next record."""

    id: int
    epoch: int
    sequence: int = 0


async def work_on_records(client: WorkloadClient, topic: str, partition: int) -> None:
    """Append batches to one partition until the run stops."""
    broker = BrokerClient(client)
    producer: ProducerState | None = None
    while not client.run.stopping:
        try:
            if producer is None:
                producer = await new_producer(client)
        except KwireError:
            await asyncio.sleep(PAUSE)
            continue
        numbers = [client.run.unique() for _ in range(client.random.randint(1, MOST_RECORDS))]
        append = _Append(broker, topic, partition, producer, numbers)
        key = f"records:{topic}-{partition}"
        operation = await client.record(key, "append", append.run, numbers)
        producer.sequence += len(numbers)
        if operation.fate is not Fate.OK:
            # Nobody knows which sequence the broker waits for: a new producer begins at 0.
            producer = None
        await wait_turn(client, 0.08)


async def new_producer(client: WorkloadClient) -> ProducerState:
    """Get an id for an idempotent producer. Raises KwireError."""
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
    client.node = client.any_node()
    answer = await client.ask(InitProducerIdResponse, request)
    if answer.error_code:
        raise KwireError(name(answer.error_code))
    return ProducerState(answer.producer_id, answer.producer_epoch)


@dataclass(slots=True, eq=False)
class _Append:
    """One batch on its way, however often it is sent."""

    broker: BrokerClient
    topic: str
    partition: int
    producer: ProducerState
    numbers: list[int]

    async def run(self) -> tuple[Fate, object]:
        """Send it until it is acknowledged, refused for good, or the producer's time is over."""
        run = self.broker.client.run
        end = run.clock() + PATIENCE
        result = "gave up"
        sent = False
        while run.clock() < end and not (run.stopping and sent):
            try:
                code, offset = await self._send()
            except AnswerLost:
                sent, result = True, "AnswerLost"
            except KwireError as error:
                result = type(error).__name__
            else:
                sent = True
                if code == ErrorCode.NONE:
                    return Fate.OK, offset
                if code == ErrorCode.DUPLICATE_SEQUENCE_NUMBER:
                    return Fate.OK, None
                result = name(code)
                if code not in _AGAIN:
                    return Fate.UNKNOWN, result
                self.broker.forget(self.topic, self.partition)
            await asyncio.sleep(PAUSE)
        return (Fate.UNKNOWN if sent else Fate.NOT_DONE), result

    async def _send(self) -> tuple[int, int]:
        records = [Record(value=json.dumps(number).encode()) for number in self.numbers]
        batch = build_batch(
            records,
            producer_id=self.producer.id,
            producer_epoch=self.producer.epoch,
            base_sequence=self.producer.sequence,
        )
        return await produce(self.broker, self.topic, self.partition, batch)


async def produce(
    broker: BrokerClient,
    topic: str,
    partition: int,
    batch: bytes,
    transactional_id: str | None = None,
) -> tuple[int, int]:
    """Send a batch to the leader; return the error code and the base offset."""
    data = PartitionProduceData(index=partition, records=batch)
    request = ProduceRequest(
        transactional_id=transactional_id,
        acks=-1,
        timeout_ms=4000,
        topic_data=[TopicProduceData(name=topic, partition_data=[data])],
    )
    answer = await broker.ask_leader(ProduceResponse, request, topic, partition, PRODUCE)
    result = answer.responses[0].partition_responses[0]
    return result.error_code, result.base_offset
