"""The SCRAM credentials of the image (org.apache.kafka.image.ScramImage, KIP-900)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec import Struct
from rpds import HashTrieMap

from kwire.batches.metadata_records import VersionedRecord
from kwire.image.errors import ReplayError
from kwire.messages.records.remove_user_scram_credential import RemoveUserScramCredentialRecord
from kwire.messages.records.user_scram_credential import UserScramCredentialRecord

MECHANISMS = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}


class ScramUser(NamedTuple):
    """A user's credential for one mechanism: 1 is SCRAM-SHA-256, 2 is SCRAM-SHA-512."""

    mechanism: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScramCredential:
    """The keys that verify a password. They are secrets, so they are not printed."""

    salt: bytes = field(repr=False)
    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)
    iterations: int


class ScramImage(Struct, frozen=True, kw_only=True):
    """Every credential."""

    credentials: HashTrieMap[ScramUser, ScramCredential] = HashTrieMap()

    def put(self, record: UserScramCredentialRecord) -> ScramImage:
        """Set a credential of a user."""
        user = ScramUser(record.mechanism, record.name)
        credential = ScramCredential(
            salt=record.salt,
            stored_key=record.stored_key,
            server_key=record.server_key,
            iterations=record.iterations,
        )
        return ScramImage(credentials=self.credentials.insert(user, credential))

    def remove(self, record: RemoveUserScramCredentialRecord) -> ScramImage:
        """Remove a credential of a user."""
        user = ScramUser(record.mechanism, record.name)
        if user not in self.credentials:
            raise ReplayError(f"user {user.name} has no credential of mechanism {user.mechanism}")
        return ScramImage(credentials=self.credentials.remove(user))

    def records(self) -> Iterator[VersionedRecord]:
        """Yield the records that write them down."""
        for user in sorted(self.credentials):
            credential = self.credentials[user]
            record = UserScramCredentialRecord(
                name=user.name,
                mechanism=user.mechanism,
                salt=credential.salt,
                stored_key=credential.stored_key,
                server_key=credential.server_key,
                iterations=credential.iterations,
            )
            yield VersionedRecord(record=record, version=0)
