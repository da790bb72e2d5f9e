"""The rules that requests about delegation tokens have in common (KIP-48, KIP-900)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from kwire.batches.metadata_records import VersionedRecord
from kwire.controller.handlers.result import ControllerContext, versioned
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image.delegation_tokens import DelegationToken, DelegationTokensImage
from kwire.messages.records.remove_delegation_token import RemoveDelegationTokenRecord
from kwire.net.service import ANONYMOUS

NO_TIME = -1
"""The time in the answer to a request that is not allowed (Java: DelegationTokenManager)."""

_LARGEST_TIME = 2**63 - 1


def may_ask_for_tokens(context: ControllerContext) -> bool:
    """Return True unless the sender could pass on rights that it should not have.

    A token must not make tokens, and without a forwarding broker the sender must have logged in
    (Java: ControllerApis.allowTokenRequests).
    """
    if context.by_delegation_token:
        return False
    if context.forwarded:
        return True
    protocol = context.config.security_protocols.get(context.listener, "PLAINTEXT")
    if protocol == "SSL":
        return context.principal != ANONYMOUS
    return protocol != "PLAINTEXT"


def token_secret(context: ControllerContext) -> str:
    """Return the secret that makes the HMACs. Raises ApiError:

    1. Without delegation.token.secret.key: DELEGATION_TOKEN_AUTH_DISABLED.
    2. metadata.version below 3.6-IV2: UNSUPPORTED_VERSION.
    """
    # 1.
    secret = context.config.delegation_tokens.secret
    if secret is None:
        raise ApiError(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
    # 2.
    if not context.metadata_version.supports_delegation_tokens:
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION)
    return secret


def token_with(hmac: bytes, context: ControllerContext) -> tuple[str, DelegationToken]:
    """Return the id and the token with an HMAC. Raises ApiError as `token_secret` does, and:

    3. No token has it: DELEGATION_TOKEN_NOT_FOUND.
    """
    token_secret(context)
    # 3.
    tokens = context.image.delegation_tokens
    id = context.token_index.id_of(hmac, tokens)
    if id is None:
        raise ApiError(ErrorCode.DELEGATION_TOKEN_NOT_FOUND)
    return id, tokens.by_id[id]


def check_renewer(token: DelegationToken, context: ControllerContext) -> None:
    """Raise DELEGATION_TOKEN_OWNER_MISMATCH for who is neither its owner nor a renewer."""
    if context.principal not in (token.owner, *token.renewers):
        raise ApiError(ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)


def check_not_expired(token: DelegationToken, now: int) -> None:
    """Raise DELEGATION_TOKEN_EXPIRED for a token that has ended, but is not removed yet."""
    if is_expired(token, now):
        raise ApiError(ErrorCode.DELEGATION_TOKEN_EXPIRED)


def is_expired(token: DelegationToken, now: int) -> bool:
    """Return True if the token has ended. now: milliseconds since 1970."""
    return min(token.max_timestamp, token.expiration_timestamp) < now


def time_after(now: int, duration: int) -> int:
    """Return the sum, at most 2^63 - 1."""
    return min(now + duration, _LARGEST_TIME)


def with_expiration(id: str, token: DelegationToken, expiration: int) -> VersionedRecord:
    """Return the record that changes when a token has to be renewed."""
    return replace(token, expiration_timestamp=expiration).record(id)


def removed_expired_tokens(tokens: DelegationTokensImage, now: int) -> Iterator[VersionedRecord]:
    """Yield the records that remove what has expired (Java: sweepExpiredDelegationTokens)."""
    for id, token in tokens.by_id.items():
        if is_expired(token, now):
            yield versioned(RemoveDelegationTokenRecord(token_id=id))
