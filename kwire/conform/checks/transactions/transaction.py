"""A transactional producer for checks, and what readers see of its transactions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kwire.batches import RecordBatch, read_batches
from kwire.batches.control_records import ControlRecord, read_control_record
from kwire.conform.checks.producers.producer import CheckedProducer, settled_init
from kwire.conform.connection import CheckedConnection
from kwire.conform.expectation import expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import Skipped
from kwire.conform.whole_answer import filled
from kwire.error_codes import ErrorCode
from kwire.messages.a01_fetch import FetchRequest
from kwire.messages.a24_add_partitions_to_txn import AddPartitionsToTxnRequest
from kwire.messages.a26_end_txn import EndTxnRequest
from kwire.messages.a65_describe_transactions import DescribeTransactionsRequest
from kwire.net.negotiation import api_versions_request

LAST_OF_CLIENTS = 3
"""The last version of AddPartitionsToTxn that clients use; brokers use later ones (KIP-890)."""
LAST_WITH_ONE_EPOCH = 4
"""The last version of EndTxn after which a producer keeps its epoch (KIP-890)."""
LAST_FETCH_WITH_NAMES = 12
"""The last version of Fetch in which topics have names (KIP-516)."""
UNCOMMITTED, COMMITTED = 0, 1
"""Isolation levels of readers."""

_MAX_BYTES = 1 << 20


@dataclass(slots=True, kw_only=True)
class CheckedTransaction:
    """The transactions of one transactional id. coordinator: a connection to its coordinator."""

    server: Server
    coordinator: CheckedConnection
    producer: CheckedProducer

    @property
    def id(self) -> str:
        """The transactional id."""
        return self.producer.transactional_id or ""

    def numbers(self, **fields: Any) -> dict[str, Any]:
        """Return id, producer id and epoch of a request; fields: others in their place."""
        own = {
            "transactional_id": self.id,
            "producer_id": self.producer.producer_id,
            "producer_epoch": self.producer.epoch,
        }
        return own | fields

    async def add(
        self,
        *partitions: int,
        topic: str = "",
        also: tuple[str, ...] = (),
        version: int | None = None,
        **fields: Any,
    ) -> Any:
        """Add partitions, as clients do; return the answer. also: topics, with their partition 0.

        Asks again while the coordinator is still ending the transaction before.
        """
        topics = [{"name": topic or self.producer.topic, "partitions": partitions}]
        topics += [{"name": name, "partitions": (0,)} for name in also]
        numbers = {f"v3_and_below_{k}": v for k, v in self.numbers(**fields).items()}
        request = filled(AddPartitionsToTxnRequest, v3_and_below_topics=topics, **numbers)
        if version is None:
            version = self.coordinator.version_up_to(request, LAST_OF_CLIENTS)

        async def answered() -> Any:
            answer = await self.coordinator.ask_coordinator(request, version)
            results = answer.results_by_topic_v3_and_below[0].results_by_partition
            code = results[0].partition_error_code
            return None if code == ErrorCode.CONCURRENT_TRANSACTIONS else answer

        return await self.server.wait_for("the end of the transaction before", answered)

    async def begin(self, *partitions: int) -> None:
        """Add partitions, partition 0 unless others are named, which must be accepted."""
        expect_error(await self.add(*(partitions or (0,))), ErrorCode.NONE)

    async def end(
        self, *, committed: bool = True, version: int | None = None, **fields: Any
    ) -> Any:
        """Commit or abort; return the answer, whatever its error."""
        request = EndTxnRequest(**self.numbers(committed=committed, **fields))
        if version is None:
            version = self.coordinator.version_up_to(request, LAST_WITH_ONE_EPOCH)
        return await self.coordinator.ask_coordinator(request, version)

    async def finish(self, *, committed: bool = True) -> None:
        """Commit or abort, which must be accepted, and wait until the leader has the marker."""
        end = await self.producer.end_offset()
        expect_error(await self.end(committed=committed), ErrorCode.NONE)

        async def marked() -> bool:
            return await self.producer.end_offset() > end

        await self.server.wait_for("a transaction marker", marked)

    async def end_again(self, *, committed: bool) -> Any:
        """End what is being ended; return the answer once the coordinator is done with that."""

        async def settled() -> Any:
            answer = await self.end(committed=committed)
            return None if answer.error_code == ErrorCode.CONCURRENT_TRANSACTIONS else answer

        return await self.server.wait_for("the end of the transaction", settled)

    async def describe(self) -> Any:
        """Return the coordinator's description of the transactional id."""
        request = DescribeTransactionsRequest(transactional_ids=(self.id,))
        return (await self.coordinator.ask_coordinator(request)).transaction_states[0]

    async def another_epoch(self, **fields: Any) -> CheckedTransaction:
        """Return the next producer with the same id, which fences this one."""
        answer = await settled_init(
            self.server, self.coordinator, transactional_id=self.id, **fields
        )
        expect_error(answer, ErrorCode.NONE)
        producer = CheckedProducer(
            leaders=self.producer.leaders,
            topic=self.producer.topic,
            producer_id=answer.producer_id,
            epoch=answer.producer_epoch,
            transactional_id=self.id,
        )
        return CheckedTransaction(
            server=self.server, coordinator=self.coordinator, producer=producer
        )


async def transactional_producer(
    server: Server, partitions: int = 1, topic: str = ""
) -> CheckedTransaction:
    """Return a producer with a new transactional id, for a topic or a new one.

    The transaction that it leaves open is aborted afterwards.
    """
    topic = topic or await server.topic(partitions)
    name = server.name()
    coordinator = await server.coordinator(name, of_transactions=True)

    async def abort() -> None:
        await settled_init(server, coordinator, transactional_id=name)

    server.remove_afterwards(f"transaction {name}", abort)
    leaders = [await server.leader(topic, partition) for partition in range(partitions)]
    producer = CheckedProducer(leaders=leaders, topic=topic, transactional_id=name)
    first = CheckedTransaction(server=server, coordinator=coordinator, producer=producer)
    return await first.another_epoch()


async def demand_second_version(server: Server) -> None:
    """Raise Skipped unless transaction.version is finalized at 2 (KIP-890)."""
    answer = await server.ask(api_versions_request())
    levels = {f.name: f.max_version_level for f in answer.finalized_features}
    if (level := levels.get("transaction.version", 0)) < 2:
        raise Skipped(f"transaction.version is {level}, not 2")


async def written_transaction(server: Server) -> CheckedTransaction:
    """Return a new producer whose open transaction has one record."""
    transaction = await transactional_producer(server)
    await transaction.begin()
    await transaction.producer.append(0)
    return transaction


async def ended_transaction(server: Server, *, committed: bool = True) -> CheckedTransaction:
    """Return a new producer whose transaction of one record was committed, or aborted."""
    transaction = await written_transaction(server)
    await transaction.finish(committed=committed)
    return transaction


async def fetch(producer: CheckedProducer, isolation_level: int, offset: int = 0) -> Any:
    """Read partition 0; return the answer for the partition, which must be one without error."""
    partition = {"fetch_offset": offset, "partition_max_bytes": _MAX_BYTES}
    topics = [{"topic": producer.topic, "partitions": [partition]}]
    request = filled(FetchRequest, isolation_level=isolation_level, topics=topics)
    version = producer.leader.version_up_to(request, LAST_FETCH_WITH_NAMES)
    answer = await producer.leader.ask(request, version)
    expect_error(answer, ErrorCode.NONE)
    return answer.responses[0].partitions[0]


def batches(partition: Any) -> list[RecordBatch]:
    """Return the batches of an answer to Fetch."""
    found = read_batches(partition.records or b"")
    return [batch for batch in found if isinstance(batch, RecordBatch)]


def offsets_of_data(partition: Any) -> list[int]:
    """Return the offsets of the records in an answer to Fetch, without those of markers."""
    data = [batch for batch in batches(partition) if not batch.is_control]
    return [record.offset for batch in data for record in batch.records()]


def markers(partition: Any) -> list[ControlRecord]:
    """Return the transaction markers in an answer to Fetch."""
    control = [batch for batch in batches(partition) if batch.is_control]
    return [read_control_record(record) for batch in control for record in batch.records()]
