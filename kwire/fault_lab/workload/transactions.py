"""Transactions: a producer writes a number to every partition of a topic, and commits or aborts.

A transaction whose end was not answered is settled by the next InitProducerId (KIP-98): it is then
visible in all partitions or in none.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass

from kwire.batches import Record, build_batch
from kwire.error_codes import ErrorCode, name
from kwire.errors import BrokerError, KwireError
from kwire.fault_lab.history import Fate
from kwire.fault_lab.session import WorkloadClient
from kwire.fault_lab.workload.brokers import TRANSACTION, BrokerClient
from kwire.fault_lab.workload.pace import wait_turn
from kwire.fault_lab.workload.records import PAUSE, ProducerState, produce
from kwire.messages.a22_init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kwire.messages.a24_add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from kwire.messages.a26_end_txn import EndTxnRequest, EndTxnResponse

TIMEOUT_MS = 20_000
"""After this time the coordinator aborts a transaction that nobody ends."""

ADD, END = 3, 4
"""Versions: AddPartitionsToTxn of clients, and EndTxn that leaves the epoch as it is (KIP-890)."""

ATTEMPTS = 20
COMMITS = 0.75


async def work_on_transactions(client: WorkloadClient, topic: str, partitions: int) -> None:
    """Carry out transactions under one transactional id until the run stops."""
    broker = BrokerClient(client)
    work = TransactionalProducer(broker, f"{topic}-{client.number}", topic, partitions)
    while not client.run.stopping:
        try:
            await work.begin_anew()
        except KwireError:
            await asyncio.sleep(PAUSE)
            continue
        fate = Fate.OK
        while fate is Fate.OK and not client.run.stopping:
            number = client.run.unique()
            kind = "commit" if client.random.random() < COMMITS else "abort"
            transaction = _Transaction(work, number, kind == "commit")
            operation = await client.record(f"transactions:{topic}", kind, transaction.run, number)
            fate = operation.fate
            await wait_turn(client, 0.05)


@dataclass(slots=True, eq=False)
class TransactionalProducer:
    """The producer of one transactional id. sequences: the next one of each partition."""

    broker: BrokerClient
    id: str
    topic: str
    partitions: int
    producer: ProducerState | None = None
    sequences: dict[int, int] | None = None

    async def begin_anew(self) -> None:
        """Fence off what was before, and take a new epoch. Raises KwireError."""
        request = InitProducerIdRequest(transactional_id=self.id, transaction_timeout_ms=TIMEOUT_MS)
        answer = await self.broker.ask_coordinator(
            InitProducerIdResponse, request, self.id, TRANSACTION, 4
        )
        if answer.error_code:
            self.broker.forget_coordinator(self.id, TRANSACTION)
            raise BrokerError(answer.error_code)
        self.producer = ProducerState(answer.producer_id, answer.producer_epoch)
        self.sequences = dict.fromkeys(range(self.partitions), 0)


@dataclass(slots=True, eq=False)
class _Transaction:
    """One transaction: a number in every partition."""

    work: TransactionalProducer
    number: int
    commit: bool

    async def run(self) -> tuple[Fate, object]:
        """Add the partitions, write, end. Only a lost end leaves the fate open."""
        try:
            await self._write()
        except KwireError as error:
            # Never committed: the next InitProducerId, or the timeout, aborts it.
            return Fate.NOT_DONE, getattr(error, "name", type(error).__name__)
        for _ in range(ATTEMPTS):
            try:
                code = await self._end()
            except KwireError as error:
                result = type(error).__name__
            else:
                if code == ErrorCode.NONE:
                    return Fate.OK, None
                result = name(code)
                if code not in _END_AGAIN:
                    return Fate.UNKNOWN, result
                self.work.broker.forget_coordinator(self.work.id, TRANSACTION)
            await asyncio.sleep(PAUSE)
        return Fate.UNKNOWN, result

    async def _write(self) -> None:
        work = self.work
        producer, sequences = work.producer, work.sequences
        assert producer is not None
        assert sequences is not None
        await self._add_partitions(producer)
        for partition in range(work.partitions):
            batch = build_batch(
                [Record(value=json.dumps(self.number).encode())],
                producer_id=producer.id,
                producer_epoch=producer.epoch,
                base_sequence=sequences[partition],
                is_transactional=True,
            )
            code, _ = await produce(work.broker, work.topic, partition, batch, work.id)
            if code:
                raise BrokerError(code)
            sequences[partition] += 1

    async def _add_partitions(self, producer: ProducerState) -> None:
        work = self.work
        topic = AddPartitionsToTxnTopic(name=work.topic, partitions=tuple(range(work.partitions)))
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=work.id,
            v3_and_below_producer_id=producer.id,
            v3_and_below_producer_epoch=producer.epoch,
            v3_and_below_topics=[topic],
        )
        for _ in range(ATTEMPTS):
            answer = await work.broker.ask_coordinator(
                AddPartitionsToTxnResponse, request, work.id, TRANSACTION, ADD
            )
            results = answer.results_by_topic_v3_and_below[0].results_by_partition
            code = max(result.partition_error_code for result in results)
            if not code:
                return
            if code != ErrorCode.CONCURRENT_TRANSACTIONS:
                work.broker.forget_coordinator(work.id, TRANSACTION)
                raise BrokerError(code)
            # The markers of the transaction before are still being written.
            await asyncio.sleep(PAUSE / 4)
        raise BrokerError(code)

    async def _end(self) -> int:
        work = self.work
        assert work.producer is not None
        request = EndTxnRequest(
            transactional_id=work.id,
            producer_id=work.producer.id,
            producer_epoch=work.producer.epoch,
            committed=self.commit,
        )
        answer = await work.broker.ask_coordinator(
            EndTxnResponse, request, work.id, TRANSACTION, END
        )
        return answer.error_code


_END_AGAIN = {
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.REQUEST_TIMED_OUT,
}
