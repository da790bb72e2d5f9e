"""The delegation tokens of the image (org.apache.kafka.image.DelegationTokenImage, KIP-900)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from rpds import HashTrieMap

from kwire.batches.metadata_records import VersionedRecord
from kwire.messages.records.delegation_token import DelegationTokenRecord
from kwire.messages.records.remove_delegation_token import RemoveDelegationTokenRecord


class DelegationToken(Struct, frozen=True, kw_only=True):
    """A right to act for its owner; times are milliseconds since 1970."""

    owner: str
    requester: str
    renewers: tuple[str, ...]
    issue_timestamp: int
    max_timestamp: int
    expiration_timestamp: int

    @property
    def parties(self) -> tuple[str, ...]:
        """Its owner, requester and renewers (Java: TokenInformation.ownerOrRenewer)."""
        return (self.owner, self.requester, *self.renewers)

    def record(self, id: str) -> VersionedRecord:
        """Return the DelegationTokenRecord of it."""
        record = DelegationTokenRecord(
            owner=self.owner,
            requester=self.requester,
            renewers=self.renewers,
            issue_timestamp=self.issue_timestamp,
            max_timestamp=self.max_timestamp,
            expiration_timestamp=self.expiration_timestamp,
            token_id=id,
        )
        return VersionedRecord(record=record, version=0)


class DelegationTokensImage(Struct, frozen=True, kw_only=True):
    """Every token, by its id."""

    by_id: HashTrieMap[str, DelegationToken] = HashTrieMap()

    def put(self, record: DelegationTokenRecord) -> DelegationTokensImage:
        """Add a token, or change its expiry."""
        token = DelegationToken(
            owner=record.owner,
            requester=record.requester,
            renewers=record.renewers,
            issue_timestamp=record.issue_timestamp,
            max_timestamp=record.max_timestamp,
            expiration_timestamp=record.expiration_timestamp,
        )
        return DelegationTokensImage(by_id=self.by_id.insert(record.token_id, token))

    def remove(self, record: RemoveDelegationTokenRecord) -> DelegationTokensImage:
        """Remove a token, if there is one.

        Kafka writes a second record for a token that is expired twice in a moment: its controller
        looks it up in a cache that follows the log (Java: DelegationTokenDelta,
        DelegationTokenControlManager.getToken).
        """
        return DelegationTokensImage(by_id=self.by_id.discard(record.token_id))

    def records(self) -> Iterator[VersionedRecord]:
        """Yield the records that write them down."""
        for id in sorted(self.by_id):
            yield self.by_id[id].record(id)
