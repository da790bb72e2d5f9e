"""Delegation tokens (KIP-48) and ACLs (KIP-140), where neither is to be had."""

from __future__ import annotations

from kwire.codec.declaration import Request
from kwire.conform.check import Check, CheckSection, exchange, scenario
from kwire.conform.expectation import answers, closes, expect_equal, expect_error, first_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import ServerRole, Skipped, kafka, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a29_describe_acls import DescribeAclsRequest
from kwire.messages.a30_create_acls import CreateAclsRequest
from kwire.messages.a31_delete_acls import DeleteAclsFilter, DeleteAclsRequest
from kwire.messages.a38_create_delegation_token import CreateDelegationTokenRequest
from kwire.messages.a39_renew_delegation_token import RenewDelegationTokenRequest
from kwire.messages.a40_expire_delegation_token import ExpireDelegationTokenRequest
from kwire.messages.a41_describe_delegation_token import DescribeDelegationTokenRequest
from kwire.messages.access_control import AclOperation, AclPermission, AclResourceType, PatternType
from kwire.net.tls import ClientTls

SECTION = CheckSection("admin/tokens", "Delegation tokens and ACLs where there are none")

_NO_AUTHORIZER = ErrorCode.SECURITY_DISABLED
_HMAC = b"kwire-conform"


def _has_certificate(tls: ClientTls | None) -> bool:
    return tls is not None and bool(tls.certificate or tls.keystore)


def _no_token(sentence: str, request: Request, role: ServerRole = ServerRole.ANY) -> Check:
    """Return a check of a request about tokens on a connection without a login."""

    @scenario(sentence, kip(48, "Public Interfaces"), role=role)
    async def check(server: Server) -> None:
        security = server.target.security
        if security.sasl is not None or _has_certificate(security.tls):
            raise Skipped("the connection has a login or a certificate, tokens may be had")
        expect_error(
            await server.ask_controller(request),
            ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
            ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED,
        )

    return check


SECTION[1] = _no_token(
    "Without a login no token is created.", CreateDelegationTokenRequest(max_lifetime_ms=-1)
)
SECTION[2] = _no_token(
    "Without a login no token is renewed.", RenewDelegationTokenRequest(hmac=_HMAC)
)
SECTION[3] = _no_token(
    "Without a login no token is expired.", ExpireDelegationTokenRequest(hmac=_HMAC)
)
SECTION[4] = _no_token(
    "Without a login no tokens are described.",
    DescribeDelegationTokenRequest(owners=None),
    ServerRole.BROKER,
)


def _any_acl(operation: AclOperation) -> DescribeAclsRequest:
    return DescribeAclsRequest(
        resource_type_filter=AclResourceType.ANY,
        resource_name_filter=None,
        pattern_type_filter=PatternType.ANY,
        principal_filter=None,
        host_filter=None,
        operation=operation,
        permission_type=AclPermission.ANY,
    )


@SECTION.check(5, kip(140, "Public Interfaces"))
async def _(server: Server) -> None:
    """Without an authorizer listing and deleting ACLs gets SECURITY_DISABLED."""
    described = first_error(await server.ask(_any_acl(AclOperation.ANY)))
    if described in (ErrorCode.NONE, ErrorCode.CLUSTER_AUTHORIZATION_FAILED):
        raise Skipped("the server has an authorizer")
    expect_equal("error", described, _NO_AUTHORIZER)
    nothing = DeleteAclsFilter(
        resource_type_filter=AclResourceType.TOPIC,
        resource_name_filter=server.name(),
        pattern_type_filter=PatternType.LITERAL,
        principal_filter=None,
        host_filter=None,
        operation=AclOperation.ANY,
        permission_type=AclPermission.ANY,
    )
    answer = await server.ask_controller(DeleteAclsRequest(filters=[nothing]))
    expect_error(answer, _NO_AUTHORIZER)


@SECTION.check(6, kip(140, "Public Interfaces"))
async def _(server: Server) -> None:
    """A request that creates no ACLs gets no results."""
    expect_equal("results", (await server.ask(CreateAclsRequest())).results, [])


SECTION[7] = exchange(
    "A filter with the operation UNKNOWN gets INVALID_REQUEST, or ends the connection.",
    kafka("DescribeAclsRequest.normalizeAndValidate"),
    send=_any_acl(AclOperation.UNKNOWN),
    expect=closes() | answers(ErrorCode.INVALID_REQUEST),
    differs=answers(_NO_AUTHORIZER) | answers(ErrorCode.NONE),
)
