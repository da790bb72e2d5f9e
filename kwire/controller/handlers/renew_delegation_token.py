"""RenewDelegationToken (KIP-48, KIP-900)."""

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
from kwire.controller.handlers.result import ControllerContext, ControllerEvent, ControllerResult
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.messages.a39_renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)


def handle(request: RenewDelegationTokenRequest, context: ControllerContext) -> ControllerResult:
    """Put off when a token has to be renewed (Java: DelegationTokenControlManager).

    1. From who `may_ask_for_tokens` not: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED.
    2. Without a secret, too low a metadata.version, or an unknown HMAC: as `token_with`.
    3. The token has ended: DELEGATION_TOKEN_EXPIRED.
    4. Neither owner nor renewer: DELEGATION_TOKEN_OWNER_MISMATCH.
    5. The new time is the requested one, if it is positive, the configured one, or the end of the
       token's life, whichever is first.
    """
    # 1.
    if event(request, context) is ControllerEvent.NONE:
        code = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
        response = RenewDelegationTokenResponse(error_code=code, expiry_timestamp_ms=NO_TIME)
        return ControllerResult(response=response)
    try:
        # 2.
        id, token = token_with(request.hmac, context)
        # 3.
        check_not_expired(token, context.now)
        # 4.
        check_renewer(token, context)
    except ApiError as error:
        return ControllerResult(response=RenewDelegationTokenResponse(error_code=error.code))
    # 5.
    period = context.config.delegation_tokens.expiry_time_ms
    if request.renew_period_ms > 0:
        period = min(period, request.renew_period_ms)
    expiration = min(token.max_timestamp, time_after(context.now, period))
    return ControllerResult(
        response=RenewDelegationTokenResponse(expiry_timestamp_ms=expiration),
        records=(with_expiration(id, token, expiration),),
    )


def event(request: RenewDelegationTokenRequest, context: ControllerContext) -> ControllerEvent:
    """Return NONE for step 1 of `handle`."""
    return ControllerEvent.WRITE if may_ask_for_tokens(context) else ControllerEvent.NONE
