"""Offsets of a group within transactions (KIP-98, KIP-447)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kwire.conform.check import CheckSection, broker_scenario
from kwire.conform.checks.transactions.transaction import CheckedTransaction, transactional_producer
from kwire.conform.connection import CheckedConnection
from kwire.conform.expectation import expect, expect_equal, expect_error, expect_refused
from kwire.conform.reaction import error_text
from kwire.conform.server import Server
from kwire.conform.vocabulary import kip, schema
from kwire.error_codes import ErrorCode
from kwire.messages.a09_offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kwire.messages.a25_add_offsets_to_txn import AddOffsetsToTxnRequest
from kwire.messages.a28_txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

SECTION = CheckSection("transactions/offsets", "Offsets of groups in transactions")

_ADD = kip(98, "AddOffsetsToTxnRequest")
_COMMIT = kip(98, "TxnOffsetCommitRequest")
_STABLE = kip(447, "Public Interfaces")
_MEMBERS = schema("TxnOffsetCommitResponse", "version 3")
_WITH_MEMBER = 3
"""The first version of TxnOffsetCommit with the member and its generation (KIP-447)."""
_EXPLICIT = 4
"""The last version of TxnOffsetCommit that needs AddOffsetsToTxn before (KIP-890)."""
_GROUPS = 8
"""The version of OffsetFetch with many groups and with names of topics."""
_FENCED = 2


@dataclass(slots=True, kw_only=True)
class _Offsets:
    """A transaction that commits offsets of partition 0 for a group."""

    transaction: CheckedTransaction
    group: str
    coordinator: CheckedConnection

    async def add(self, version: int | None = None, **fields: Any) -> Any:
        request = AddOffsetsToTxnRequest(
            **({"group_id": self.group} | self.transaction.numbers(**fields))
        )
        return await self.transaction.coordinator.ask_coordinator(request, version)

    async def commit(self, offset: int, **fields: Any) -> Any:
        partition = TxnOffsetCommitRequestPartition(
            partition_index=0, committed_offset=offset, committed_metadata=None
        )
        topic = TxnOffsetCommitRequestTopic(
            name=self.transaction.producer.topic, partitions=[partition]
        )
        numbers = self.transaction.numbers(**({"group_id": self.group} | fields))
        request = TxnOffsetCommitRequest(topics=[topic], **numbers)
        version = self.coordinator.version_up_to(request, _EXPLICIT)
        return await self.coordinator.ask_coordinator(request, version)

    async def fetch(self, *, stable: bool = False) -> Any:
        """Return the answer for the partition."""
        topic = OffsetFetchRequestTopics(
            name=self.transaction.producer.topic, partition_indexes=(0,)
        )
        group = OffsetFetchRequestGroup(group_id=self.group, topics=[topic])
        request = OffsetFetchRequest(groups=[group], require_stable=stable)
        answer = await self.coordinator.ask_coordinator(request, _GROUPS)
        group = answer.groups[0]
        expect(group.topics, "an answer for the partition", error_text(group.error_code))
        return group.topics[0].partitions[0]

    async def pending(self, offset: int) -> None:
        """Commit an offset in a transaction that stays open."""
        expect_error(await self.add(), ErrorCode.NONE)
        expect_error(await self.commit(offset), ErrorCode.NONE)


async def _offsets(server: Server) -> _Offsets:
    group = server.group()
    coordinator = await server.coordinator(group)
    transaction = await transactional_producer(server)
    return _Offsets(transaction=transaction, group=group, coordinator=coordinator)


@SECTION.broker_check(1, _ADD)
async def _(server: Server) -> None:
    """A group's offsets can be added to a transaction."""
    expect_error(await (await _offsets(server)).add(), ErrorCode.NONE)


@SECTION.broker_check(2, _ADD)
async def _(server: Server) -> None:
    """AddOffsetsToTxn begins the transaction."""
    offsets = await _offsets(server)
    await offsets.add()
    expect_equal("state", (await offsets.transaction.describe()).transaction_state, "Ongoing")


@SECTION.broker_refuses(3, _ADD, ErrorCode.INVALID_PRODUCER_ID_MAPPING)
async def _(server: Server) -> Any:
    """AddOffsetsToTxn with a foreign producer id gets"""
    offsets = await _offsets(server)
    wrong = offsets.transaction.producer.producer_id + 10**9
    return await offsets.add(producer_id=wrong)


def _refuses_epoch(version: int, code: ErrorCode) -> Any:
    @broker_scenario(
        f"AddOffsetsToTxn v{version} with an older epoch gets {code.name}.",
        kip(588, "Proposed Changes"),
    )
    async def refuses(server: Server) -> None:
        offsets = await _offsets(server)
        await offsets.transaction.another_epoch()
        expect_error(await offsets.add(version), code)

    return refuses


SECTION[4] = _refuses_epoch(1, ErrorCode.INVALID_PRODUCER_EPOCH)
SECTION[5] = _refuses_epoch(_FENCED, ErrorCode.PRODUCER_FENCED)


@SECTION.broker_check(6, _COMMIT)
async def _(server: Server) -> None:
    """OffsetFetch does not return the offsets of an open transaction."""
    offsets = await _offsets(server)
    await offsets.pending(5)
    expect_equal("offset", (await offsets.fetch()).committed_offset, -1)


@SECTION.broker_refuses(7, _STABLE, ErrorCode.UNSTABLE_OFFSET_COMMIT)
async def _(server: Server) -> Any:
    """With require_stable OffsetFetch gets UNSTABLE_OFFSET_COMMIT while one is pending."""
    offsets = await _offsets(server)
    await offsets.pending(5)
    return await offsets.fetch(stable=True)


async def _ended(offsets: _Offsets, *, committed: bool) -> int:
    expect_error(await offsets.transaction.end(committed=committed), ErrorCode.NONE)

    async def stable() -> Any:
        partition = await offsets.fetch(stable=True)
        return None if partition.error_code == ErrorCode.UNSTABLE_OFFSET_COMMIT else partition

    partition = await offsets.transaction.server.wait_for("a stable offset", stable)
    expect_error(partition, ErrorCode.NONE)
    offset: int = partition.committed_offset
    return offset


@SECTION.broker_check(8, _COMMIT)
async def _(server: Server) -> None:
    """After the commit OffsetFetch returns the offsets."""
    offsets = await _offsets(server)
    await offsets.pending(5)
    expect_equal("offset", await _ended(offsets, committed=True), 5)


@SECTION.broker_check(9, _COMMIT)
async def _(server: Server) -> None:
    """After an abort the offsets are as they were."""
    offsets = await _offsets(server)
    await offsets.pending(5)
    await _ended(offsets, committed=True)

    async def added() -> bool:
        answer = await offsets.add()
        return bool(answer.error_code != ErrorCode.CONCURRENT_TRANSACTIONS)

    await server.wait_for("the next transaction", added)
    expect_error(await offsets.commit(7), ErrorCode.NONE)
    expect_equal("offset", await _ended(offsets, committed=False), 5)


@SECTION.broker_refuses(10, _MEMBERS, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION)
async def _(server: Server) -> Any:
    """A member that the group does not have gets"""
    offsets = await _offsets(server)
    offsets.coordinator.demand(TxnOffsetCommitRequest, _WITH_MEMBER)
    expect_error(await offsets.add(), ErrorCode.NONE)
    return await offsets.commit(5, member_id="nobody", generation_id_or_member_epoch=1)


@SECTION.broker_check(11, _MEMBERS)
async def _(server: Server) -> None:
    """A generation that an empty group does not have is refused."""
    offsets = await _offsets(server)
    offsets.coordinator.demand(TxnOffsetCommitRequest, _WITH_MEMBER)
    expect_error(await offsets.add(), ErrorCode.NONE)
    answer = await offsets.commit(5, generation_id_or_member_epoch=1)
    expect_error(answer, ErrorCode.ILLEGAL_GENERATION, ErrorCode.UNKNOWN_MEMBER_ID)


@SECTION.broker_check(12, _COMMIT)
async def _(server: Server) -> None:
    """TxnOffsetCommit with an empty group id gets INVALID_GROUP_ID."""
    offsets = await _offsets(server)
    expect_error(await offsets.add(), ErrorCode.NONE)
    expect_refused(await offsets.commit(5, group_id=""), ErrorCode.INVALID_GROUP_ID)
