"""CreateDelegationToken (KIP-48; in the metadata: KIP-900; for others: KIP-373)."""

from __future__ import annotations

from kwire.codec.engine import STRING_LIMIT
from kwire.controller.authentication.token_index import token_hmac
from kwire.controller.handlers.delegation_tokens import (
    NO_TIME,
    may_ask_for_tokens,
    time_after,
    token_secret,
)
from kwire.controller.handlers.result import (
    ControllerContext,
    ControllerEvent,
    ControllerResult,
    versioned,
)
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.messages.a38_create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from kwire.messages.access_control import AclOperation, AclResourceType
from kwire.messages.records.delegation_token import DelegationTokenRecord
from kwire.text.ids import uuid_text

USER_TYPE = "User"
WITH_REQUESTER = 3
"""The version since which the answer names who asked."""


def handle(request: CreateDelegationTokenRequest, context: ControllerContext) -> ControllerResult:
    """Issue a token to the sender, or to another owner.

    1. An owner with a name and no type: UNKNOWN_SERVER_ERROR, as of Kafka.
    2. From who `may_ask_for_tokens` not: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED.
    3. For another owner without CREATE_TOKENS on that user: DELEGATION_TOKEN_AUTHORIZATION_FAILED.
    4. Without a secret, or too low a metadata.version: as `token_secret`.
    5. A renewer that is no user: INVALID_PRINCIPAL_TYPE. A principal that is too long for the
       record: INVALID_REQUEST; Java fails when it writes it.
    6. The lifetimes are the requested one, if it is positive, and the configured ones, whichever
       ends first; the HMAC of the id is the password.

    Source: DelegationTokenControlManager.createDelegationToken and
    ControllerApis.handleCreateDelegationTokenRequest.
    """
    requester = _parts(context.principal)
    owner = _owner(request, requester)
    response = CreateDelegationTokenResponse(principal_type=owner[0], principal_name=owner[1])
    if context.version >= WITH_REQUESTER:
        response = response.replace(
            token_requester_principal_type=requester[0],
            token_requester_principal_name=requester[1],
        )
    refusal = _refusal(owner, requester, context)
    if refusal is not None:
        response = response.replace(
            error_code=refusal,
            issue_timestamp_ms=NO_TIME,
            expiry_timestamp_ms=NO_TIME,
            max_timestamp_ms=NO_TIME,
        )
        return ControllerResult(response=response)
    try:
        # 4.
        secret = token_secret(context)
        # 5.
        if any(renewer.principal_type != USER_TYPE for renewer in request.renewers):
            raise ApiError(ErrorCode.INVALID_PRINCIPAL_TYPE)
    except ApiError as error:
        return ControllerResult(response=response.replace(error_code=error.code))
    # 6.
    record = _record(request, context, ":".join(owner))
    # 5.
    principals = (record.owner, record.requester, *record.renewers)
    if any(len(principal.encode()) > STRING_LIMIT for principal in principals):
        return ControllerResult(response=response.replace(error_code=ErrorCode.INVALID_REQUEST))
    response = response.replace(
        issue_timestamp_ms=record.issue_timestamp,
        expiry_timestamp_ms=record.expiration_timestamp,
        max_timestamp_ms=record.max_timestamp,
        token_id=record.token_id,
        hmac=token_hmac(secret, record.token_id),
    )
    return ControllerResult(response=response, records=(versioned(record),))


def event(request: CreateDelegationTokenRequest, context: ControllerContext) -> ControllerEvent:
    """Return NONE for steps 2 and 3 of `handle`. Raises ApiError as of step 1."""
    requester = _parts(context.principal)
    refusal = _refusal(_owner(request, requester), requester, context)
    return ControllerEvent.WRITE if refusal is None else ControllerEvent.NONE


def _owner(request: CreateDelegationTokenRequest, requester: tuple[str, str]) -> tuple[str, str]:
    if not request.owner_principal_name:
        return requester
    # 1.
    if request.owner_principal_type is None:
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, "The owner has no principal type.")
    return request.owner_principal_type, request.owner_principal_name


def _refusal(
    owner: tuple[str, str], requester: tuple[str, str], context: ControllerContext
) -> ErrorCode | None:
    # 2.
    if not may_ask_for_tokens(context):
        return ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    # 3.
    permitted = owner == requester or context.access.permits(
        AclOperation.CREATE_TOKENS, AclResourceType.USER, ":".join(owner)
    )
    return None if permitted else ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED


def _record(
    request: CreateDelegationTokenRequest, context: ControllerContext, owner: str
) -> DelegationTokenRecord:
    config, now = context.config.delegation_tokens, context.now
    lifetime = config.max_lifetime_ms
    if request.max_lifetime_ms > 0:
        lifetime = min(lifetime, request.max_lifetime_ms)
    max_timestamp = time_after(now, lifetime)
    return DelegationTokenRecord(
        owner=owner,
        requester=context.principal,
        renewers=tuple(f"{USER_TYPE}:{renewer.principal_name}" for renewer in request.renewers),
        issue_timestamp=now,
        max_timestamp=max_timestamp,
        expiration_timestamp=min(max_timestamp, time_after(now, config.expiry_time_ms)),
        token_id=uuid_text(context.new_uuid()),
    )


def _parts(principal: str) -> tuple[str, str]:
    """Return type and name of a principal."""
    type, _, name = principal.partition(":")
    return type, name
