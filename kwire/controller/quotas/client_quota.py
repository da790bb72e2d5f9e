"""The quota of a client, of all that are set (Java: ClientQuotaManager.DefaultQuotaCallback)."""

from __future__ import annotations

from dataclasses import dataclass

from kwire.image.client_quotas import EMPTY, ClientQuotasImage

USER, CLIENT_ID = "user", "client-id"


@dataclass(frozen=True, slots=True)
class QuotaShare:
    """The clients that use one quota together.

    user: "" for all users of a client id. client_id: "" for all clients of a user, and for those
    that have no client id.
    """

    user: str
    client_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientQuota:
    """The limit of a client, and who shares it."""

    share: QuotaShare
    limit: float


def client_quota(
    quotas: ClientQuotasImage, key: str, user: str, client_id: str
) -> ClientQuota | None:
    """Return the quota `key` of a client; None if there is none. user: without its type.

    The first of these that has it:

    1. this user with this client id;
    2. this user with any client id;
    3. this user, whose clients share it;
    4. any user with this client id;
    5. any user with any client id;
    6. any user: the clients of each user share it;
    7. this client id, whose users share it;
    8. any client id: the users of each client id share it.

    For a client without an id only 3. and 6. count.
    """
    own_user, any_user = (USER, user), (USER, None)
    own_client, any_client = (CLIENT_ID, client_id), (CLIENT_ID, None)
    pair, of_user = QuotaShare(user, client_id), QuotaShare(user, "")
    of_client = QuotaShare("", client_id)
    # 1.–8.
    for share, *parts in (
        (pair, own_user, own_client),
        (pair, own_user, any_client),
        (of_user, own_user),
        (pair, any_user, own_client),
        (pair, any_user, any_client),
        (of_user, any_user),
        (of_client, own_client),
        (of_client, any_client),
    ):
        if not client_id and share is not of_user:
            continue
        limit = quotas.entities.get(frozenset(parts), EMPTY).get(key)
        if limit is not None:
            return ClientQuota(share=share, limit=limit)
    return None


def shares(user: str, client_id: str) -> tuple[QuotaShare, ...]:
    """Return every share that a client can be in."""
    return QuotaShare(user, client_id), QuotaShare(user, ""), QuotaShare("", client_id)
