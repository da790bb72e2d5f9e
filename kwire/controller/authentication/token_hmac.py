"""The HMAC of a delegation token, which is its password (KIP-48)."""

from __future__ import annotations

from hmac import digest


def token_hmac(secret: str, id: str) -> bytes:
    """Return the HMAC-SHA512 of a token's id: 64 bytes (Java: DelegationTokenManager.createHmac).

    secret: delegation.token.secret.key.
    """
    return digest(secret.encode(), id.encode(), "sha512")
