"""SCRAM credentials of users (KIP-554; Java: ScramControlManager, ScramImage)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import Check, CheckSection, broker_scenario, scenario
from kwire.conform.expectation import expect, expect_equal, expect_error
from kwire.conform.needs import ServerRole
from kwire.conform.server import Server
from kwire.conform.source import kip
from kwire.messages.a50_describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    UserName,
)
from kwire.messages.a51_alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)

_SHA_256, _NO_MECHANISM = 1, 99
_ITERATIONS = 4096
_DESCRIBE = kip(554, "DescribeUserScramCredentials")
_ALTER = kip(554, "AlterUserScramCredentials")


async def _describe(server: Server, *users: str) -> Any:
    names = [UserName(name=user) for user in users]
    return await server.ask(DescribeUserScramCredentialsRequest(users=names))


def _upsertion(user: str, mechanism: int, iterations: int) -> ScramCredentialUpsertion:
    return ScramCredentialUpsertion(
        name=user,
        mechanism=mechanism,
        iterations=iterations,
        salt=b"kwire-conform",
        salted_password=bytes(range(32)),
    )


async def _delete(server: Server, user: str) -> Any:
    deletion = ScramCredentialDeletion(name=user, mechanism=_SHA_256)
    return await server.ask_controller(AlterUserScramCredentialsRequest(deletions=[deletion]))


async def _upsert(
    server: Server,
    *users: str,
    mechanism: int = _SHA_256,
    iterations: int = _ITERATIONS,
) -> Any:
    """Set credentials; they are deleted after the check."""
    (await server.connection()).demand_since(AlterUserScramCredentialsRequest, 0)
    for user in set(users):

        async def remove(user: str = user) -> None:
            await _delete(server, user)

        server.remove_afterwards(f"SCRAM credential of {user}", remove)
    upsertions = [_upsertion(user, mechanism, iterations) for user in users]
    return await server.ask_controller(AlterUserScramCredentialsRequest(upsertions=upsertions))


def _refused(sentence: str, code: int, **fields: Any) -> Check:
    @scenario(sentence, _ALTER)
    async def check(server: Server) -> None:
        expect_error(await _upsert(server, server.name(), **fields), code)

    return check


@scenario("An unknown mechanism is reported before too few iterations.", _ALTER)
async def _mechanism_first(server: Server) -> None:
    answer = await _upsert(server, server.name(), mechanism=_NO_MECHANISM, iterations=1)
    expect_error(answer, 33, differs=(93,))


@scenario("A user without credentials gets RESOURCE_NOT_FOUND.", _DESCRIBE, role=ServerRole.BROKER)
async def _unknown(server: Server) -> None:
    expect_error(await _describe(server, server.name()), 91)


@scenario(
    "A user that stands twice in a request gets DUPLICATE_RESOURCE.",
    _DESCRIBE,
    role=ServerRole.BROKER,
)
async def _described_twice(server: Server) -> None:
    name = server.name()
    expect_error(await _describe(server, name, name), 92)


@scenario("Deleting a credential that does not exist gets RESOURCE_NOT_FOUND.", _ALTER)
async def _deleted_unknown(server: Server) -> None:
    expect_error(await _delete(server, server.name()), 91)


@scenario("A user without a name gets UNACCEPTABLE_CREDENTIAL.", _ALTER)
async def _no_name(server: Server) -> None:
    expect_error(await _upsert(server, ""), 93)


@scenario("A credential that stands twice in a request gets DUPLICATE_RESOURCE.", _ALTER)
async def _set_twice(server: Server) -> None:
    name = server.name()
    expect_error(await _upsert(server, name, name), 92)


@broker_scenario("A credential is described by mechanism and iterations.", _DESCRIBE)
async def _described(server: Server) -> None:
    name = server.name()
    expect_error(await _upsert(server, name), 0)

    async def found() -> Any:
        answer = await _describe(server, name)
        expect_error(answer, 0, 91)
        return answer.results[0].credential_infos or None

    infos = await server.wait_for("the credential", found)
    expect_equal("credentials", infos, [CredentialInfo(mechanism=_SHA_256, iterations=_ITERATIONS)])


@broker_scenario("Null stands for all users.", _DESCRIBE)
async def _all(server: Server) -> None:
    name = server.name()
    expect_error(await _upsert(server, name), 0)

    async def found() -> bool:
        answer = await _describe(server, name)
        expect_error(answer, 0, 91)
        return bool(answer.results[0].error_code == 0)

    await server.wait_for("the credential", found)
    answer = await server.ask(DescribeUserScramCredentialsRequest(users=None))
    users = [result.user for result in answer.results]
    expect(name in users, f"{name} among the users", users)


SECTION = CheckSection(
    "admin/scram",
    "SCRAM credentials of users",
    {
        1: _unknown,
        2: _described_twice,
        3: _deleted_unknown,
        4: _no_name,
        5: _set_twice,
        6: _refused("Fewer than 4096 iterations get UNACCEPTABLE_CREDENTIAL.", 93, iterations=4095),
        7: _refused(
            "More than 16384 iterations get UNACCEPTABLE_CREDENTIAL.", 93, iterations=16_385
        ),
        8: _refused(
            "A mechanism that does not exist gets UNSUPPORTED_SASL_MECHANISM.",
            33,
            mechanism=_NO_MECHANISM,
        ),
        9: _mechanism_first,
        10: _described,
        11: _all,
    },
)
