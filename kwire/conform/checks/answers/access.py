"""Whole answers about logins, ACLs and delegation tokens, where the server has them."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection
from kwire.conform.checks.groups.settings import configured
from kwire.conform.checks.security.sasl import WRONG_PASSWORD, credentials, handshake
from kwire.conform.expectation import expect_equal, expect_error, first_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, ServerRole, Skipped, guide, kip, schema
from kwire.conform.whole_answer import (
    FILLED,
    NOT_NEGATIVE,
    POSITIVE,
    expect_whole,
    filled,
    fitting,
    including,
    of_version,
    one_of,
)
from kwire.error_codes import ErrorCode
from kwire.messages import (
    CreateAclsRequest,
    CreateDelegationTokenRequest,
    DeleteAclsRequest,
    DescribeAclsRequest,
    DescribeDelegationTokenRequest,
    ExpireDelegationTokenRequest,
    RenewDelegationTokenRequest,
    SaslAuthenticateRequest,
    SaslHandshakeRequest,
)
from kwire.messages.access_control import AclOperation, AclPermission, AclResourceType, PatternType
from kwire.messages.config_resource import ResourceType
from kwire.net.sasl import Mechanism

SECTION = CheckSection("answers/access", "Logins, ACLs and delegation tokens")

_USER = "User"
_RENEWER = {"principal_type": _USER, "principal_name": "kwire-conform"}
_WITH_PATTERNS = 1
"""The first version of the APIs of ACLs with prefixes of names (KIP-290)."""
_LIFETIME_MS, _RENEWAL_MS = 3_600_000, 60_000
_LAST_OF_ENDS = 2
"""The last version of RenewDelegationToken and ExpireDelegationToken."""
_SOON_MS = 1_800_000
"""Milliseconds that a check may take: times are compared with that of the token's creation."""


def _filter(name: str) -> dict[str, Any]:
    return {
        "resource_type_filter": AclResourceType.TOPIC,
        "resource_name_filter": name,
        "pattern_type_filter": PatternType.PREFIXED,
        "principal_filter": None,
        "host_filter": None,
        "operation": AclOperation.ANY,
        "permission_type": AclPermission.ANY,
    }


@SECTION.check(1, schema("DescribeAclsResponse"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """ACLs are created, described and deleted as they are, in every version with patterns."""
    connection = await server.connection()
    name = server.name()
    acls = [
        {
            "principal": "User:kwire-conform",
            "host": "*",
            "operation": operation,
            "permission_type": AclPermission.ALLOW,
        }
        for operation in (AclOperation.READ, AclOperation.WRITE)
    ]
    topic = {"resource_type": AclResourceType.TOPIC, "resource_name": name}
    pattern = {**topic, "pattern_type": PatternType.PREFIXED}
    creations = [{**topic, "resource_pattern_type": PatternType.PREFIXED, **acl} for acl in acls]
    create = filled(CreateAclsRequest, creations=creations)
    delete = filled(DeleteAclsRequest, filters=[_filter(name)])
    wanted = DescribeAclsRequest(**_filter(name))

    async def remove() -> None:
        await server.ask_controller(delete)

    async def known() -> bool:
        return bool((await connection.ask(wanted)).resources)

    server.remove_afterwards(f"ACLs of {name}", remove)
    described = {"resources": [{**pattern, "acls": acls}]}
    deleted = {"filter_results": [{"matching_acls": [{**pattern, **acl} for acl in acls]}]}
    for version in connection.offered(CreateAclsRequest, since=_WITH_PATTERNS):
        answer = await server.ask_controller(create, version)
        if first_error(answer) == ErrorCode.SECURITY_DISABLED:
            raise Skipped("the server has no authorizer")
        expect_whole(answer, {"results": [{} for _ in creations]}, version)
        await server.wait_for("the ACLs", known)
        expect_whole(await connection.ask(wanted, version), described, version)
        expect_whole(await server.ask_controller(delete, version), deleted, version)


@SECTION.check(3, kip(140, "Public Interfaces"))
async def _(server: Server) -> None:
    """A server either describes ACLs and deletes them, or has SECURITY_DISABLED for both."""
    name = server.name()
    delete = filled(DeleteAclsRequest, filters=[_filter(name)])
    deleted = await server.ask_controller(delete)
    described = await server.ask(DescribeAclsRequest(**_filter(name)))
    expect_error(deleted, ErrorCode.NONE, ErrorCode.SECURITY_DISABLED)
    code = first_error(deleted)
    expect_equal("error of DescribeAcls", described.error_code, code)
    version = (await server.connection()).version_for(delete)
    expect_whole(deleted, {"filter_results": [{"error_code": code}]}, version)


def _owned(name: str) -> dict[str, Any]:
    """Return the owner of a token, who asked for it too."""
    return {
        "principal_type": _USER,
        "principal_name": name,
        "token_requester_principal_type": _USER,
        "token_requester_principal_name": name,
    }


async def _token(server: Server, version: int) -> Any:
    """Create a token for the login itself, and demand the whole answer."""
    login = server.target.security.sasl
    request = filled(
        CreateDelegationTokenRequest,
        owner_principal_type=None,
        owner_principal_name=None,
        renewers=[_RENEWER],
        max_lifetime_ms=_LIFETIME_MS,
    )
    answer = await server.ask_controller(of_version(request, version), version)
    if answer.error_code == ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED:
        raise Skipped("the server has no delegation tokens")
    expire = ExpireDelegationTokenRequest(hmac=answer.hmac, expiry_time_period_ms=-1)

    async def remove() -> None:
        await server.ask_controller(expire)

    server.remove_afterwards("a delegation token", remove)
    name = login.username if login is not None else ""
    end = answer.issue_timestamp_ms + _LIFETIME_MS
    expected = {
        **_owned(name),
        "issue_timestamp_ms": POSITIVE,
        "expiry_timestamp_ms": end,
        "max_timestamp_ms": end,
        "token_id": FILLED,
        "hmac": FILLED,
    }
    expect_whole(answer, expected, version)
    return answer


def _after(start: int) -> Any:
    return fitting(f"{start} ms or soon after", lambda value: 0 <= value - start < _SOON_MS)


def _as_described(token: Any) -> dict[str, Any]:
    """Return a token as DescribeDelegationToken has it, by what CreateDelegationToken told."""
    return {
        **_owned(token.principal_name),
        "issue_timestamp": token.issue_timestamp_ms,
        "expiry_timestamp": token.expiry_timestamp_ms,
        "max_timestamp": token.max_timestamp_ms,
        "token_id": token.token_id,
        "hmac": token.hmac,
        "renewers": [_RENEWER],
    }


@SECTION.check(2, schema("CreateDelegationTokenResponse"), needs=Need.RESOURCES | Need.SASL)
async def _(server: Server) -> None:
    """A delegation token is described, renewed and expired as it was created, in every version."""
    connection = await server.connection()
    for version in connection.offered(CreateDelegationTokenRequest):
        token = await _token(server, version)
        later = min(version, _LAST_OF_ENDS)
        token.expiry_timestamp_ms = await _renewed(server, token, later)
        # Kafka's controllers offer to describe it, and do not.
        if server.target.role is ServerRole.BROKER:
            await _described(server, token, version)
        expire = ExpireDelegationTokenRequest(hmac=token.hmac, expiry_time_period_ms=-1)
        expired = {"expiry_timestamp_ms": _after(token.issue_timestamp_ms)}
        expect_whole(await server.ask_controller(expire, later), expired, later)


async def _described(server: Server, token: Any, version: int) -> None:
    """Describe a token, once the broker knows it as it was renewed."""
    connection = await server.connection()
    owner = {"principal_type": token.principal_type, "principal_name": token.principal_name}
    wanted = filled(DescribeDelegationTokenRequest, owners=[owner])

    async def known() -> bool:
        answer = await connection.ask(wanted)
        end = token.expiry_timestamp_ms
        return end in [t.expiry_timestamp for t in answer.tokens if t.token_id == token.token_id]

    await server.wait_for("the token as it was renewed", known)
    expected = {"tokens": including(_as_described(token))}
    expect_whole(await connection.ask(wanted, version), expected, version)


async def _renewed(server: Server, token: Any, version: int) -> int:
    """Renew a token, which ends earlier then; return when."""
    renew = RenewDelegationTokenRequest(hmac=token.hmac, renew_period_ms=_RENEWAL_MS)
    answer: Any = None

    async def known() -> bool:
        nonlocal answer
        answer = await server.ask_controller(renew, version)
        return first_error(answer) != ErrorCode.DELEGATION_TOKEN_NOT_FOUND

    await server.wait_for("the token", known)
    end = _after(token.issue_timestamp_ms + _RENEWAL_MS)
    expect_whole(answer, {"expiry_timestamp_ms": end}, version)
    renewed: int = answer.expiry_timestamp_ms
    return renewed


async def _expect_mechanisms(server: Server, mechanism: str) -> None:
    named = fitting(
        f"{mechanism}, and no name twice",
        lambda names: mechanism in names and len({*names}) == len(names),
    )
    codes = {mechanism: ErrorCode.NONE, "NONE": ErrorCode.UNSUPPORTED_SASL_MECHANISM}
    for version in (await server.connection()).offered(SaslHandshakeRequest):
        for asked, code in codes.items():
            answer = await handshake(await server.new_connection(login=False), asked, version)
            expect_whole(answer, {"error_code": code, "mechanisms": named}, version)


@SECTION.check(4, guide("SASL Authentication Sequence"), needs=Need.SASL)
async def _(server: Server) -> None:
    """Logins are answered with mechanisms, errors and the session's lifetime, in every version."""
    login = await credentials(server).resolved()
    await _expect_mechanisms(server, login.mechanism.value)
    login = await credentials(server, Mechanism.PLAIN).resolved()
    nodes = [id for id, address in server.target.nodes.items() if address == server.target.address]
    name, limit = str(*nodes), "connections.max.reauth.ms"
    limits = await configured(server, ResourceType.BROKER, name, limit) if nodes else []
    lifetime = {"session_lifetime_ms": one_of(*limits) if limits else NOT_NEGATIVE}
    failed = {"error_code": ErrorCode.SASL_AUTHENTICATION_FAILED}
    for version in (await server.connection()).offered(SaslAuthenticateRequest):
        for password, expected in ((login.password, lifetime), (WRONG_PASSWORD, failed)):
            connection = await server.new_connection(login=False)
            await handshake(connection, login.mechanism.value)
            token = f"\0{login.username}\0{password}".encode()
            answer = await connection.ask(SaslAuthenticateRequest(auth_bytes=token), version)
            expect_whole(answer, expected, version)
