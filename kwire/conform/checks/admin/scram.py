"""SCRAM credentials of users (KIP-554; Java: ScramControlManager, ScramImage)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import Check, CheckSection, gets, scenario
from kwire.conform.expectation import expect, expect_error
from kwire.conform.quorum import SCRAM, demand_metadata_version
from kwire.conform.server import Server
from kwire.conform.vocabulary import ServerRole, kafka, kip
from kwire.conform.whole_answer import filled
from kwire.error_codes import ErrorCode
from kwire.messages import (
    AlterUserScramCredentialsRequest,
    DescribeUserScramCredentialsRequest,
)

SECTION = CheckSection("admin/scram", "SCRAM credentials of users")

_SHA_256, _NO_MECHANISM = 1, 99
_ITERATIONS = 4096
_DESCRIBE = kip(554, "DescribeUserScramCredentials")
_ALTER = kip(554, "AlterUserScramCredentials")


async def _describe(server: Server, *users: str) -> Any:
    names = [{"name": user} for user in users]
    return await server.ask(filled(DescribeUserScramCredentialsRequest, users=names))


async def _delete(server: Server, user: str) -> Any:
    await demand_metadata_version(await server.connection(), SCRAM)
    deletion = {"name": user, "mechanism": _SHA_256}
    request = filled(AlterUserScramCredentialsRequest, deletions=[deletion])
    return await server.ask_controller(request)


async def _upsert(
    server: Server, *users: str, mechanism: int = _SHA_256, iterations: int = _ITERATIONS
) -> Any:
    """Set credentials; they are deleted after the check."""
    (await server.connection()).demand_since(AlterUserScramCredentialsRequest, 0)
    await demand_metadata_version(await server.connection(), SCRAM)
    for user in set(users):

        async def remove(user: str = user) -> None:
            await _delete(server, user)

        server.remove_afterwards(f"SCRAM credential of {user}", remove)
    key = {
        "mechanism": mechanism,
        "iterations": iterations,
        "salt": b"kwire-conform",
        "salted_password": bytes(range(32)),
    }
    upsertions = [{"name": user, **key} for user in users]
    request = filled(AlterUserScramCredentialsRequest, upsertions=upsertions)
    return await server.ask_controller(request)


def _refused(sentence: str, code: int, **fields: Any) -> Check:
    @scenario(gets(sentence, code), _ALTER)
    async def check(server: Server) -> None:
        expect_error(await _upsert(server, server.name(), **fields), code)

    return check


@SECTION.refuses(2, _DESCRIBE, ErrorCode.DUPLICATE_RESOURCE, role=ServerRole.BROKER)
async def _(server: Server) -> Any:
    """A user that stands twice in a request gets"""
    name = server.name()
    return await _describe(server, name, name)


@SECTION.refuses(4, _ALTER, ErrorCode.UNACCEPTABLE_CREDENTIAL)
async def _(server: Server) -> Any:
    """A user without a name gets"""
    return await _upsert(server, "")


@SECTION.refuses(5, _ALTER, ErrorCode.DUPLICATE_RESOURCE)
async def _(server: Server) -> Any:
    """A credential that stands twice in a request gets"""
    name = server.name()
    return await _upsert(server, name, name)


SECTION[6] = _refused(
    "Fewer than 4096 iterations get", ErrorCode.UNACCEPTABLE_CREDENTIAL, iterations=4095
)
SECTION[7] = _refused(
    "More than 16384 iterations get", ErrorCode.UNACCEPTABLE_CREDENTIAL, iterations=16_385
)
SECTION[8] = _refused(
    "A mechanism that does not exist gets",
    ErrorCode.UNSUPPORTED_SASL_MECHANISM,
    mechanism=_NO_MECHANISM,
)


@SECTION.refuses(
    9, kafka("ScramControlManager.validateUpsertion"), ErrorCode.UNSUPPORTED_SASL_MECHANISM
)
async def _(server: Server) -> Any:
    """An unknown mechanism is reported before too few iterations."""
    return await _upsert(server, server.name(), mechanism=_NO_MECHANISM, iterations=1)


@SECTION.broker_check(11, _DESCRIBE)
async def _(server: Server) -> None:
    """Null stands for all users."""
    name = server.name()
    expect_error(await _upsert(server, name), ErrorCode.NONE)

    async def found() -> bool:
        answer = await _describe(server, name)
        expect_error(answer, ErrorCode.NONE, ErrorCode.RESOURCE_NOT_FOUND)
        return bool(answer.results[0].error_code == ErrorCode.NONE)

    await server.wait_for("the credential", found)
    answer = await server.ask(DescribeUserScramCredentialsRequest(users=None))
    users = [result.user for result in answer.results]
    expect(name in users, f"{name} among the users", users)
