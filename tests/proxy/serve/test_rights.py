"""Behind a proxy with a principal of its own, clients have their own rights and no others."""

from __future__ import annotations

import asyncio
from pathlib import Path
from struct import pack

import pytest

from kwire.codec.declaration import Request
from kwire.error_codes import ErrorCode
from kwire.errors import ConnectionFailed
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest
from kwire.messages.a19_create_topics import CreatableTopic, CreateTopicsRequest
from kwire.messages.a51_alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.sasl import Credentials
from kwire.proxy import Copies
from kwire.proxy.flows.walk import failures
from tests.support.controller.sasl_listeners import (
    ADMIN,
    ADMIN_PASSWORD,
    ALICE,
    ALICE_PASSWORD,
    plain,
)
from tests.support.proxy.serve.rights import EVERYTHING, rights

MALLORY = AlterUserScramCredentialsRequest(
    upsertions=[
        ScramCredentialUpsertion(
            name="mallory", mechanism=1, iterations=4096, salt=b"salt", salted_password=b"x" * 32
        )
    ]
)
TOPIC = CreateTopicsRequest(
    topics=[CreatableTopic(name="orders", num_partitions=1, replication_factor=1)],
    validate_only=True,
)
CHANGES: tuple[tuple[Request, int], ...] = (
    (EVERYTHING, ErrorCode.CLUSTER_AUTHORIZATION_FAILED),
    (MALLORY, ErrorCode.CLUSTER_AUTHORIZATION_FAILED),
    (TOPIC, ErrorCode.TOPIC_AUTHORIZATION_FAILED),
)


async def answered(address: Address, request: Request, sasl: Credentials) -> set[int]:
    async with await Connection.open(address.host, address.port, sasl=sasl) as connection:
        return {failure.code for failure in failures(await connection.send(request))}


async def test_a_request_in_place_of_a_token_changes_nothing(tmp_path: Path) -> None:
    async with rights(tmp_path) as cluster:
        for address in cluster.addresses():
            for request, _ in CHANGES:
                async with await Connection.open(address.host, address.port) as connection:
                    await connection.send(SaslHandshakeRequest(mechanism="PLAIN"))
                    response = await connection.send(request)
                    codes = {failure.code for failure in failures(response)}
                    assert codes == {ErrorCode.ILLEGAL_SASL_STATE}
                    with pytest.raises(ConnectionFailed):
                        await connection.send(request)
        assert cluster.changes == []
        assert cluster.nothing_was_changed()


async def test_a_client_changes_what_she_may_change_herself(tmp_path: Path) -> None:
    async with rights(tmp_path) as cluster:
        alice, admin = plain(ALICE, ALICE_PASSWORD), plain(ADMIN, ADMIN_PASSWORD)
        for address in cluster.addresses():
            for request, code in CHANGES:
                assert await answered(address, request, alice) == {code}
        assert cluster.nothing_was_changed()
        for address in cluster.addresses():
            for request, _ in CHANGES:
                assert await answered(address, request, admin) <= {38}  # no broker has room
        assert not cluster.nothing_was_changed()
        by = [change.principal for change in cluster.changes]
        assert by == ["User:alice"] * 6 + ["User:admin"] * 6
        assert not any(change.lent for change in cluster.changes)
        (secret,) = cluster.changes[1].resources
        assert "salted_password=(hidden)" in secret
        assert 'name="mallory"' in secret


async def test_rights_that_are_lent_are_marked_in_the_audit(tmp_path: Path) -> None:
    async with rights(tmp_path, lend_rights=True) as cluster:
        (address, *_) = cluster.addresses()
        assert await answered(address, MALLORY, plain(ALICE, ALICE_PASSWORD)) == set()
        (change,) = cluster.changes
        assert (change.principal, change.lent, change.outcome) == ("User:alice", True, "done")


async def test_a_long_request_of_a_stranger_hides_no_change(tmp_path: Path) -> None:
    async with rights(tmp_path) as cluster:
        cluster.served.proxy.held = Copies(1 << 16, 1 << 16)
        for address in cluster.addresses():
            async with await Connection.open(
                address.host, address.port, sasl=plain(ADMIN, ADMIN_PASSWORD)
            ) as connection:
                reader, writer = await asyncio.open_connection(address.host, address.port)
                # All of a CreateTopics but its last bytes.
                writer.write(pack(">ihhih", 1 << 16, 19, 7, 1, -1) + bytes((1 << 16) - 20))
                assert await reader.read() == b""
                writer.close()
                before = len(cluster.changes)
                await connection.send(TOPIC)
                assert len(cluster.changes) == before + 1
