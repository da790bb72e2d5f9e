"""Delegation tokens by their HMAC, which is their password (KIP-48; Java:
DelegationTokenCache.tokenIdForHmac)."""

from __future__ import annotations

from hmac import digest

from kwire.image.delegation_tokens import DelegationTokensImage


def token_hmac(secret: str, id: str) -> bytes:
    """Return the HMAC-SHA512 of a token's id: 64 bytes (Java: DelegationTokenManager.createHmac).

    secret: delegation.token.secret.key.
    """
    return digest(secret.encode(), id.encode(), "sha512")


class TokenIndex:
    """Finds tokens by HMAC in any image of one cluster, committed or not.

    The HMAC of an id never changes and the id is never used again, so an entry stays true while
    images come and go; the token itself is looked up in the image. Each HMAC is made once.

    secret: delegation.token.secret.key, None if there are no tokens.
    """

    def __init__(self, secret: str | None) -> None:
        self._secret = secret
        self._indexed: DelegationTokensImage | None = None
        self._hmacs: dict[str, bytes] = {}
        self._ids: dict[bytes, str] = {}

    def id_of(self, hmac: bytes, tokens: DelegationTokensImage) -> str | None:
        """Return the id of the token with an HMAC; None if the image has no such token."""
        id = self._ids.get(hmac)
        if id is None and tokens is not self._indexed:
            self._index(tokens)
            id = self._ids.get(hmac)
        return id if id in tokens.by_id else None

    def _index(self, tokens: DelegationTokensImage) -> None:
        """Take up the tokens of an image, and forget those that it has no more."""
        if self._secret is None:
            return
        hmacs = self._hmacs
        self._hmacs = {id: hmacs.get(id) or token_hmac(self._secret, id) for id in tokens.by_id}
        self._ids = {hmac: id for id, hmac in self._hmacs.items()}
        self._indexed = tokens
