"""DescribeDelegationToken (KIP-48, KIP-373), which KIP-919 lists for controllers.

Kafka's controllers offer it, and answer UNKNOWN_SERVER_ERROR; this one answers as a broker does.
"""

from __future__ import annotations

from kwire.controller.authentication.token_index import token_hmac
from kwire.controller.handlers.delegation_tokens import may_ask_for_tokens
from kwire.controller.handlers.result import ControllerContext, ControllerResult
from kwire.error_codes import ErrorCode
from kwire.image.delegation_tokens import DelegationToken
from kwire.messages.a41_describe_delegation_token import (
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from kwire.messages.access_control import AclOperation, AclResourceType

WITH_REQUESTER = 3
"""The version since which the answer names who had a token created."""


def handle(request: DescribeDelegationTokenRequest, context: ControllerContext) -> ControllerResult:
    """List tokens with their HMACs (Java: KafkaApis.handleDescribeTokensRequest).

    1. Unless `may_ask_for_tokens`: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED.
    2. Without a secret: DELEGATION_TOKEN_AUTH_DISABLED.
    3. Null for owners asks for everybody's tokens, an empty list for none. Else a token is asked
       for if one of them owns it, requested it or may renew it.
    4. Of these the sender sees those that it owns, requested or may renew; others with DESCRIBE on
       the token, or DESCRIBE_TOKENS on its owner (Java: DelegationTokenManager.filterToken).
    """
    # 1.
    if not may_ask_for_tokens(context):
        return _refused(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
    # 2.
    secret = context.config.delegation_tokens.secret
    if secret is None:
        return _refused(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
    # 3.
    owners = None
    if request.owners is not None:
        owners = {f"{owner.principal_type}:{owner.principal_name}" for owner in request.owners}
    tokens = [
        _described(id, token, token_hmac(secret, id), context.version)
        for id, token in sorted(context.image.delegation_tokens.by_id.items())
        if (owners is None or not owners.isdisjoint(token.parties)) and _may_see(id, token, context)
    ]
    return ControllerResult(response=DescribeDelegationTokenResponse(tokens=tokens))


def _may_see(id: str, token: DelegationToken, context: ControllerContext) -> bool:
    # 4.
    if context.principal in token.parties:
        return True
    permits = context.access.permits
    return permits(AclOperation.DESCRIBE, AclResourceType.DELEGATION_TOKEN, id) or permits(
        AclOperation.DESCRIBE_TOKENS, AclResourceType.USER, token.owner
    )


def _described(
    id: str, token: DelegationToken, hmac: bytes, version: int
) -> DescribedDelegationToken:
    owner_type, _, owner = token.owner.partition(":")
    described = DescribedDelegationToken(
        principal_type=owner_type,
        principal_name=owner,
        issue_timestamp=token.issue_timestamp,
        expiry_timestamp=token.expiration_timestamp,
        max_timestamp=token.max_timestamp,
        token_id=id,
        hmac=hmac,
        renewers=[
            DescribedDelegationTokenRenewer(principal_type=type, principal_name=name)
            for type, _, name in (renewer.partition(":") for renewer in token.renewers)
        ],
    )
    if version >= WITH_REQUESTER:
        requester_type, _, requester = token.requester.partition(":")
        described.token_requester_principal_type = requester_type
        described.token_requester_principal_name = requester
    return described


def _refused(code: ErrorCode) -> ControllerResult:
    return ControllerResult(response=DescribeDelegationTokenResponse(error_code=code))
