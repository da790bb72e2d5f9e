"""The model client's transaction."""

from __future__ import annotations

from functools import partial
from typing import Any

from kwire.batches.building import build_batch
from kwire.batches.record import Record
from kwire.codec.declaration import Request
from kwire.error_codes import ErrorCode
from kwire.messages import (
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    FindCoordinatorRequest,
    InitProducerIdRequest,
    ProduceRequest,
)
from kwire.messages.a00_produce import PartitionProduceData, TopicProduceData
from kwire.messages.a24_add_partitions_to_txn import AddPartitionsToTxnTopic
from kwire.net.address import Address
from tests.support.conform.clients.model_client import ModelClient, Refused, demand

NOT_HERE = (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE)


class CoordinatedClient(ModelClient):
    """Knows the coordinator of a key. key_type: 0 of a group, 1 of a transactional id."""

    key_type = 0
    coordinator: int | None = None

    async def find_coordinator(self) -> int:
        """Return the coordinator, which is asked for if need be."""
        if self.coordinator is None:
            request = FindCoordinatorRequest(
                key_type=self.key_type, key=self.group, coordinator_keys=(self.group,)
            )
            node = self.any_node()
            connection = await self.connect(node)
            if self.version(connection, FindCoordinatorRequest) >= 4:
                request.key = ""
            else:
                request.coordinator_keys = ()
            answer = await self.ask(node, request)
            found = answer.coordinators[0] if answer.coordinators else answer
            demand(found.error_code)
            self.addresses[found.node_id] = Address(found.host, found.port)
            self.coordinator = found.node_id
        return self.coordinator

    async def ask_until(self, node: int, request: Request, version: int) -> Any:
        """Send a request in a version that is no later than this; return its answer."""
        highest = self.version(await self.connect(node), type(request))
        return await self.exchange(node, request, min(version, highest))

    def forget_metadata(self, error: Exception) -> None:
        """Look for the coordinator again, where it says so."""
        super().forget_metadata(error)
        if not isinstance(error, Refused) or error.code in NOT_HERE:
            self.coordinator = None


class TransactionalClient(CoordinatedClient):
    """Writes all records in one transaction."""

    key_type = 1
    is_added = False

    async def transact(self) -> None:
        """Commit the records, or abort."""
        await self.repeated(self.init_transactions)
        try:
            for sequence, value in enumerate(self.values):
                await self.repeated(partial(self.write_in_transaction, value, sequence))
                self.say("acknowledged", value)
            await self.repeated(partial(self.end, committed=True))
            self.say("committed")
        except Refused as error:
            if not self.is_fatal(error):
                await self.repeated(partial(self.end, committed=False))
                self.say("aborted")
            raise

    def is_fatal(self, error: Refused) -> bool:
        """Return True for an error after which nothing more can be sent."""
        return error.code in (
            ErrorCode.PRODUCER_FENCED,
            ErrorCode.INVALID_TXN_STATE,
            ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        )

    async def init_transactions(self) -> None:
        """Get the producer id of the transactional id."""
        request = InitProducerIdRequest(
            transactional_id=self.group,
            transaction_timeout_ms=1000,
            producer_id=-1,
            producer_epoch=-1,
        )
        answer = await self.ask(await self.find_coordinator(), request)
        demand(answer.error_code)
        self.producer_id, self.producer_epoch = answer.producer_id, answer.producer_epoch

    async def add_partition(self) -> None:
        """Add the partition, unless Produce does it (KIP-890)."""
        node = await self.find_coordinator()
        connection = await self.connect(node)
        if self.is_added or (self.version(connection, EndTxnRequest) >= 5 and self.is_second()):
            return
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.group,
            v3_and_below_producer_id=self.producer_id,
            v3_and_below_producer_epoch=self.producer_epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=self.topic, partitions=(0,))],
        )
        answer = await self.ask_until(node, request, 3)
        results = answer.results_by_topic_v3_and_below[0].results_by_partition
        demand(results[0].partition_error_code)
        self.is_added = True

    def is_second(self) -> bool:
        """Return True for transactions of version 2."""
        return bool(self.features.get("transaction.version", 0) >= 2)

    def highest(self, second: int, first: int) -> int:
        """Return the version of a request for transactions of version 2, or of 1."""
        return second if self.is_second() else first

    async def write_in_transaction(self, value: str, sequence: int) -> None:
        """Send a record, once."""
        await self.add_partition()
        leader = await self.leader()
        batch = build_batch(
            [Record(value.encode(), timestamp=0)],
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            base_sequence=sequence,
            is_transactional=True,
        )
        part = PartitionProduceData(index=0, records=batch)
        topic = TopicProduceData(name=self.topic, partition_data=[part])
        request = ProduceRequest(
            transactional_id=self.group, acks=-1, timeout_ms=1000, topic_data=[topic]
        )
        await self.connect(leader)
        self.take_written(await self.ask_until(leader, request, self.highest(12, 11)))

    async def end(self, *, committed: bool) -> None:
        """End the transaction, once."""
        request = EndTxnRequest(
            transactional_id=self.group,
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            committed=committed,
        )
        node = await self.find_coordinator()
        await self.connect(node)
        answer = await self.ask_until(node, request, self.highest(5, 4))
        demand(answer.error_code)
