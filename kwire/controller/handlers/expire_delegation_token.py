"""ExpireDelegationToken (KIP-48, KIP-900)."""

from __future__ import annotations

from kwire.controller.handlers.delegation_tokens import (
    NO_TIME,
    check_not_expired,
    check_renewer,
    may_ask_for_tokens,
    time_after,
    token_with,
    with_expiration,
)
from kwire.controller.handlers.result import (
    ControllerContext,
    ControllerEvent,
    ControllerResult,
    versioned,
)
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.messages.a40_expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from kwire.messages.records.remove_delegation_token import RemoveDelegationTokenRecord


def handle(request: ExpireDelegationTokenRequest, context: ControllerContext) -> ControllerResult:
    """End a token, now or later (Java: DelegationTokenControlManager).

    1. From who `may_ask_for_tokens` not: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED.
    2. Without a secret, too low a metadata.version, or an unknown HMAC: as `token_with`.
    3. Neither owner nor renewer: DELEGATION_TOKEN_OWNER_MISMATCH.
    4. A negative period removes the token at once, even if it has ended.
    5. The token has ended: DELEGATION_TOKEN_EXPIRED.
    6. Otherwise it ends after the period, but never later than its maximum.
    """
    # 1.
    if event(request, context) is ControllerEvent.NONE:
        code = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
        response = ExpireDelegationTokenResponse(error_code=code, expiry_timestamp_ms=NO_TIME)
        return ControllerResult(response=response)
    try:
        # 2.
        id, token = token_with(request.hmac, context)
        # 3.
        check_renewer(token, context)
        # 4.
        if request.expiry_time_period_ms < 0:
            return ControllerResult(
                response=ExpireDelegationTokenResponse(expiry_timestamp_ms=context.now),
                records=(versioned(RemoveDelegationTokenRecord(token_id=id)),),
            )
        # 5.
        check_not_expired(token, context.now)
    except ApiError as error:
        return ControllerResult(response=ExpireDelegationTokenResponse(error_code=error.code))
    # 6.
    later = time_after(context.now, request.expiry_time_period_ms)
    expiration = min(token.max_timestamp, later)
    return ControllerResult(
        response=ExpireDelegationTokenResponse(expiry_timestamp_ms=expiration),
        records=(with_expiration(id, token, expiration),),
    )


def event(request: ExpireDelegationTokenRequest, context: ControllerContext) -> ControllerEvent:
    """Return NONE for step 1 of `handle`."""
    return ControllerEvent.WRITE if may_ask_for_tokens(context) else ControllerEvent.NONE
