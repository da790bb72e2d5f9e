"""The client of a connection and its principal, as its node knows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kwire.image import MetadataImage
from kwire.net.service import ANONYMOUS
from kwire.proxy.flows.flow import ClientConnection


@dataclass(frozen=True, slots=True)
class Caller:
    """A client that its node has let in.

    principal: as `User:alice`; None where only the node knows it. by_delegation_token: it logged in
    with a token of that user (KIP-48). proved: it logged in; False where nodes have no SASL.
    """

    principal: str | None = ANONYMOUS
    by_delegation_token: bool = False
    proved: bool = True


FindCaller = Callable[[ClientConnection, float], Caller | None]
"""Returns who sends the requests of a connection at a time of the steady clock that flows have;
None while its node serves no requests of it."""


def logged_in(
    connection: ClientConnection, now: float, image: Callable[[], MetadataImage]
) -> Caller | None:
    """Return the caller of nodes with SASL. image: knows the owners of delegation tokens.

    Nobody is in where a response may be another request's: it would say who has logged in.
    """
    login = connection.login
    if login is None or not connection.paired or login.identity is None or not login.is_in(now):
        return None
    identity = login.identity
    if identity.token_id is not None:
        token = image().delegation_tokens.by_id.get(identity.token_id)
        return Caller(None if token is None else token.owner, by_delegation_token=True)
    return Caller(None if identity.user is None else f"User:{identity.user}")
