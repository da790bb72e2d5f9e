"""Tokens, quotas and SCRAM credentials, in answers and in logs, as values that no run has alone."""

from __future__ import annotations

import hmac
from collections.abc import Container, Iterable, Mapping
from pathlib import Path
from typing import Any

from kwire.batches import read_batches
from kwire.batches.metadata_records import VersionedRecord, read_metadata_record
from kwire.codec.declaration import MetadataRecord, Response
from kwire.messages.a38_create_delegation_token import CreateDelegationTokenResponse
from kwire.messages.records.client_quota import ClientQuotaRecord
from kwire.messages.records.delegation_token import DelegationTokenRecord
from kwire.messages.records.remove_delegation_token import RemoveDelegationTokenRecord
from kwire.messages.records.remove_user_scram_credential import RemoveUserScramCredentialRecord
from kwire.messages.records.user_scram_credential import UserScramCredentialRecord
from tests.support.controller.live.java_nodes import segment

SECRET = "a secret of the cluster"
PROPERTIES: Mapping[str, str] = {
    "delegation.token.secret.key": SECRET,
    "delegation.token.max.lifetime.ms": "600000",
    "delegation.token.expiry.time.ms": "120000",
}
TIMES = ("issue_timestamp_ms", "expiry_timestamp_ms", "max_timestamp_ms")
ROUNDED_MS = 10_000

OF_ENTITIES = (
    DelegationTokenRecord,
    RemoveDelegationTokenRecord,
    ClientQuotaRecord,
    UserScramCredentialRecord,
    RemoveUserScramCredentialRecord,
)


def token_fields(answer: Response, now: float, ends: Container[int]) -> dict[str, Any]:
    """Return the fields of an answer about a token, by name; none of other answers.

    Times are those after now, in milliseconds since 1970, or one of the ends of tokens' lives,
    which were fixed before. An HMAC is right, or its length.
    """
    fields = type(answer).fields
    found: dict[str, Any] = {
        name: _rounded(getattr(answer, name), now) for name in TIMES if name in fields
    }
    if not isinstance(answer, CreateDelegationTokenResponse):
        return {
            name: "the end" if getattr(answer, name) in ends else value
            for name, value in found.items()
        }
    expected = hmac.digest(SECRET.encode(), answer.token_id.encode(), "sha512")
    found["hmac"] = "right" if answer.hmac == expected else len(answer.hmac)
    found["token_id"] = len(answer.token_id)
    return found


def ends_of_tokens(answers: Iterable[Response | str]) -> set[int]:
    """Return the times after which the tokens of these answers cannot be renewed."""
    created = (one for one in answers if isinstance(one, CreateDelegationTokenResponse))
    return {answer.max_timestamp_ms for answer in created if answer.max_timestamp_ms > 0}


def _rounded(timestamp: int, now: float) -> int | str:
    """Return a time as that after now, in steps of 10 s; those of refusals as they are."""
    if timestamp in (-1, 0):
        return timestamp
    return f"now + {round((timestamp - now) / ROUNDED_MS) * ROUNDED_MS}"


def entity_records(data: Path) -> list[bytes]:
    """Return the records about entities in the log of a data directory.

    Tokens have numbers and begin at 0; when they expire is told from when that was written. Left
    out are quotas that are no finite numbers, which only Kafka before 4.4 takes.
    """
    ids: dict[str, str] = {}
    found = []
    for batch in read_batches(segment(data).read_bytes()):
        for raw in () if batch.is_control else batch.records():
            written = read_metadata_record(raw.value or b"")
            record = written.record
            is_odd = isinstance(record, ClientQuotaRecord) and record.value - record.value != 0
            if isinstance(record, OF_ENTITIES) and not is_odd:
                plain = _plain(record, ids, raw.timestamp)
                found.append(VersionedRecord(record=plain, version=written.version).encode())
    return found


def _plain(record: MetadataRecord, ids: dict[str, str], now: int) -> MetadataRecord:
    if isinstance(record, DelegationTokenRecord):
        issued, expiration = record.issue_timestamp, record.expiration_timestamp
        is_end = expiration == record.max_timestamp
        return record.replace(
            token_id=ids.setdefault(record.token_id, str(len(ids))),
            issue_timestamp=0,
            max_timestamp=record.max_timestamp - issued,
            expiration_timestamp=0 if is_end else round((expiration - now) / ROUNDED_MS),
        )
    if isinstance(record, RemoveDelegationTokenRecord):
        return record.replace(token_id=ids[record.token_id])
    return record
