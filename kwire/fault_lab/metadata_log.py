"""The committed metadata log of a run, read from its first batch on while the faults go on.

The reader connects to the controllers themselves, past the proxy, so that it sees what is committed
soon and is never cut off. A batch that is read twice must be the same: what is committed stays.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from kwire.batches import RecordBatch
from kwire.batches.metadata_records import VersionedRecord, read_metadata_record
from kwire.fault_lab.anomaly import Anomaly
from kwire.image import MetadataImage
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.security import PLAINTEXT, Security
from kwire.observer import LiveImage
from kwire.testing.faulty_network.topology import FaultTopology

OBSERVER_CLIENT = "kwire-conform-observer"

SAME = "a committed batch of the metadata log does not change"
COMPLETE = "committed batches of the metadata log follow each other without gaps"


@dataclass(frozen=True, slots=True)
class CommittedRecord:
    """A metadata record and its offset."""

    offset: int
    record: VersionedRecord


class MetadataLogReader:
    """Follows the log while the context lasts.

    batches: the committed batches by base offset, in order. anomalies: what the reading itself has
    found. starts_at: the offset of the first batch that was read; above 0 a snapshot came first.
    """

    def __init__(self, topology: FaultTopology, security: Security = PLAINTEXT) -> None:
        self._topology = topology
        self._security = security
        self.batches: dict[int, RecordBatch] = {}
        self.anomalies: list[Anomaly] = []
        self._next = 0
        addresses = [
            topology.upstream_of(topology.advertised(node, controller=True))
            for node in topology.controllers
        ]
        self._live = LiveImage(addresses, open=self._open)
        self._live.observer.on_batch = self._take

    async def _open(self, address: Address) -> Connection:
        target = self._topology.upstream_of(address)
        tls, sasl = self._security.tls, self._security.sasl
        return await Connection.open(
            target.host,
            target.port,
            client_id=OBSERVER_CLIENT,
            connect_timeout=2.0,
            ssl=None if tls is None else tls.context(),
            sasl=sasl,
        )

    async def __aenter__(self) -> Self:
        await self._live.__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._live.__aexit__(*exc)

    @property
    def leader_id(self) -> int | None:
        """The controller that leads, as the reader knows; None if none does."""
        leader = self._live.leader_id
        return None if leader < 0 else leader

    @property
    def image(self) -> MetadataImage:
        """The image of what was read."""
        return self._live.image

    def is_voter(self, node_id: int) -> bool:
        """True if the committed voters have this node among them."""
        voters = self._live.observer.voters
        return voters is not None and any(v.voter_id == node_id for v in voters.voters)

    @property
    def offset(self) -> int:
        """The offset after the last record that was read."""
        return self._live.offset

    @property
    def starts_at(self) -> int:
        """The offset of the first batch that was read."""
        return min(self.batches, default=0)

    async def ready(self) -> None:
        """Wait for the first image. Raises KwireError if the nodes refuse for good."""
        await self._live.ready()

    async def until(self, condition: Callable[[MetadataImage], bool], within: float) -> bool:
        """Wait for an image that is so; return False if it does not come in time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._live.until(condition)
        return condition(self.image)

    async def reaches(self, offset: int, within: float) -> bool:
        """Wait until all below an offset is read; return False if it is not in time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                while self.offset < offset:
                    await self._live.changed()
        return self.offset >= offset

    def records(self) -> Iterator[CommittedRecord]:
        """Yield the records, in order."""
        for base in sorted(self.batches):
            batch = self.batches[base]
            if not batch.is_control:
                for record in batch.records():
                    value = read_metadata_record(record.value or b"")
                    yield CommittedRecord(record.offset, value)

    def _take(self, batch: RecordBatch) -> None:
        known = self.batches.get(batch.base_offset)
        if known is not None and known != batch:
            came = f"at offset {batch.base_offset} another batch was read later"
            self.anomalies.append(
                Anomaly(rule=SAME, about="metadata log", came=came, name="metadata-log")
            )
        elif known is None and batch.base_offset != self._next and self.batches:
            came = f"batch at {batch.base_offset} where {self._next} is due"
            self.anomalies.append(
                Anomaly(rule=COMPLETE, about="metadata log", came=came, name="metadata-log")
            )
        self.batches[batch.base_offset] = batch
        self._next = batch.last_offset + 1
