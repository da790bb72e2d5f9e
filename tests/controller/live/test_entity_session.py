"""Requests about tokens, quotas and SCRAM get the answers and write the records of Kafka's."""

from __future__ import annotations

import asyncio
import hmac
import time
from pathlib import Path
from typing import Any

import pytest

from kwire.batches import read_batches
from kwire.batches.metadata_records import VersionedRecord, read_metadata_record
from kwire.controller.server.quorum import Quorum
from kwire.errors import KwireError
from kwire.messages.a38_create_delegation_token import CreateDelegationTokenResponse
from kwire.messages.records.client_quota import ClientQuotaRecord
from kwire.messages.records.delegation_token import DelegationTokenRecord
from kwire.messages.records.remove_delegation_token import RemoveDelegationTokenRecord
from kwire.messages.records.remove_user_scram_credential import RemoveUserScramCredentialRecord
from kwire.messages.records.user_scram_credential import UserScramCredentialRecord
from kwire.net.connection import Connection
from real_kafka import Layout
from tests.support.controller.live.answer_differences import ABSENT, PRESENT, differences, flat
from tests.support.controller.live.java_nodes import segment
from tests.support.controller.live.session.entities import SCRIPT, EntityStep
from tests.support.controller.live.session.envelopes import send_enveloped
from tests.support.real_kafka.own_cluster import OwnCluster

SECRET = "a secret of the cluster"
PROPERTIES = {
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

LISTED = {
    "described: tokens: ": (PRESENT, ABSENT),
    "described: tokens: error_code": (ABSENT, PRESENT),
}
"""Every difference by step, ours first: Kafka lists the API, but answers it with an error."""

TAKEN_BY_4_3 = frozenset({"quota: not a number"})
"""Kafka 4.4 refuses these; kwire takes them, as Kafka 4.3.1 does."""

Answers = dict[str, dict[str, Any]]


async def run(address: tuple[str, int], without: frozenset[str]) -> Answers:
    """Send the script to a leader; return each answer, without what depends on the run."""
    answers: Answers = {}
    tokens: dict[str, bytes] = {}
    async with await Connection.open(*address) as connection:
        for name, step in SCRIPT.items():
            if name in without:
                continue
            await asyncio.sleep(step.pause)
            try:
                answer = await _send(connection, step, tokens)
            except KwireError as error:
                answers[name] = {"": type(error).__name__}
                continue
            found: dict[str, Any] = {"": answer}
            if not isinstance(answer, int):
                found = flat(answer, 3000)
            if isinstance(answer, CreateDelegationTokenResponse):
                tokens[name.partition(": ")[2]] = answer.hmac
                expected = hmac.digest(SECRET.encode(), answer.token_id.encode(), "sha512")
                found["hmac"] = "right" if answer.hmac == expected else len(answer.hmac)
                found["token_id"] = len(answer.token_id)
            now = time.time() * 1000
            found |= {key: _rounded(found[key], now) for key in TIMES if key in found}
            answers[name] = found
    return answers


async def _send(connection: Connection, step: EntityStep, tokens: dict[str, bytes]) -> Any:
    request = step.request
    if step.token is not None:
        request = request.replace(hmac=tokens[step.token])
    if step.principal is None:
        return await connection.send(request, step.version, timeout=60)
    return await send_enveloped(
        connection,
        request,
        step.principal,
        version=step.version,
        by_delegation_token=step.by_delegation_token,
    )


def _rounded(timestamp: int, now: float) -> int | str:
    """Return a time as that after now, in steps of 10 s; those of refusals as they are."""
    if timestamp in (-1, 0):
        return timestamp
    return f"now + {round((timestamp - now) / ROUNDED_MS) * ROUNDED_MS}"


def records(data: Path) -> list[bytes]:
    """Return the records about entities, with tokens that have numbers and begin at 0."""
    ids: dict[str, str] = {}
    found = []
    for batch in read_batches(segment(data).read_bytes()):
        for raw in () if batch.is_control else batch.records():
            written = read_metadata_record(raw.value or b"")
            record = written.record
            if isinstance(record, DelegationTokenRecord):
                issued = record.issue_timestamp
                record = record.replace(
                    token_id=ids.setdefault(record.token_id, str(len(ids))),
                    issue_timestamp=0,
                    max_timestamp=record.max_timestamp - issued,
                    expiration_timestamp=round((record.expiration_timestamp - issued) / ROUNDED_MS),
                )
            elif isinstance(record, RemoveDelegationTokenRecord):
                record = record.replace(token_id=ids[record.token_id])
            if isinstance(record, OF_ENTITIES):
                # As bytes: a quota that is no number is not equal to itself.
                found.append(VersionedRecord(record=record, version=written.version).encode())
    return found


@pytest.mark.parametrize("version", ["4.3.1", pytest.param("4.4.0", marks=pytest.mark.long)])
async def test_entities_change_as_in_kafka(own_cluster: OwnCluster, version: str) -> None:
    without = TAKEN_BY_4_3 if version == "4.4.0" else frozenset()
    async with Quorum(1, properties=PROPERTIES) as quorum:
        await quorum.wait_for_leader()
        ours = await run(quorum.addresses[3000], without)
        our_records = records(quorum.members[3000].folder)
    cluster = own_cluster(Layout(controllers=(3000,), version=version, properties=PROPERTIES))
    await asyncio.to_thread(cluster.start)
    node = cluster.controllers[3000]
    theirs = await run((node.controller_address.host, node.controller_address.port), without)
    their_records = records(Path(node.folder) / "data")
    differing = {
        f"{step}: {path}": values
        for step, answer in ours.items()
        for path, values in differences(answer, theirs[step]).items()
    }
    assert differing == LISTED
    assert len(our_records) > 25
    assert our_records == their_records
