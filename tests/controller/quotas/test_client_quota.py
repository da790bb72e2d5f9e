"""The quota that counts for a client, after Kafka's ClientQuotaManagerTest."""

import pytest

from kwire.controller.quotas.client_quota import QuotaShare, client_quota
from kwire.image.client_quotas import ClientQuotasImage
from kwire.messages.records.client_quota import ClientQuotaRecord, EntityData

KEY = "controller_mutation_rate"
DEFAULT = None
NOT_SET = "-"


def quotas(*limits: tuple[str | None, str | None, float]) -> ClientQuotasImage:
    """Quotas by user and client id; NOT_SET for an entity without that part."""
    image = ClientQuotasImage()
    for user, client_id, limit in limits:
        parts = {"user": user, "client-id": client_id}
        entity = [
            EntityData(entity_type=type, entity_name=name)
            for type, name in parts.items()
            if name != NOT_SET
        ]
        image = image.put(ClientQuotaRecord(entity=entity, key=KEY, value=limit, remove=False))
    return image


def limit(image: ClientQuotasImage, user: str, client_id: str) -> float | None:
    quota = client_quota(image, KEY, user, client_id)
    return None if quota is None else quota.limit


def share(image: ClientQuotasImage, user: str, client_id: str) -> QuotaShare:
    quota = client_quota(image, KEY, user, client_id)
    assert quota is not None
    return quota.share


SEVEN = (
    (DEFAULT, NOT_SET, 1000),
    (NOT_SET, DEFAULT, 2000),
    ("userA", NOT_SET, 4000),
    ("userA", "client1", 5000),
    ("userB", NOT_SET, 6000),
    ("userB", "client1", 7000),
    ("userB", DEFAULT, 8000),
    ("userC", NOT_SET, 10000),
    (NOT_SET, "client1", 9000),
)
BOTH_DEFAULT = (DEFAULT, DEFAULT, 3000)


@pytest.mark.parametrize(
    ("user", "client_id", "expected"),
    [
        ("userA", "client1", 5000),
        ("userA", "client2", 4000),
        ("userA", "client3", 4000),
        ("userB", "client1", 7000),
        ("userB", "client2", 8000),
        ("userB", "client3", 8000),
        ("userC", "client1", 10000),
        ("userD", "client1", 3000),
        ("userD", "client2", 3000),
        ("userE", "client1", 3000),
    ],
)
def test_the_quota_nearest_to_a_client_counts(user: str, client_id: str, expected: float) -> None:
    assert limit(quotas(*SEVEN, BOTH_DEFAULT), user, client_id) == expected


def test_as_quotas_go_the_next_ones_count() -> None:
    without_pairs = quotas(*SEVEN)
    assert limit(without_pairs, "userD", "client1") == 1000
    assert limit(without_pairs, "userF", "client4") == 1000
    without_users = quotas(*SEVEN[1:])
    assert limit(without_users, "userF", "client4") == 2000
    assert limit(without_users, "userF", "client1") == 9000
    assert limit(quotas(*SEVEN[2:]), "userF", "client4") is None


def test_any_user_with_this_client_id_comes_before_any_user_with_any() -> None:
    image = quotas((DEFAULT, "client1", 1), BOTH_DEFAULT, ("userA", NOT_SET, 2))
    assert limit(image, "userD", "client1") == 1
    assert limit(image, "userD", "client2") == 3000
    assert limit(image, "userA", "client1") == 2


@pytest.mark.parametrize(
    ("entity", "expected"),
    [
        (("u", "c"), ("u", "c")),
        (("u", DEFAULT), ("u", "c")),
        (("u", NOT_SET), ("u", "")),
        ((DEFAULT, "c"), ("u", "c")),
        ((DEFAULT, DEFAULT), ("u", "c")),
        ((DEFAULT, NOT_SET), ("u", "")),
        ((NOT_SET, "c"), ("", "c")),
        ((NOT_SET, DEFAULT), ("", "c")),
    ],
)
def test_who_shares_a_quota_depends_on_what_it_is_for(
    entity: tuple[str | None, str | None], expected: tuple[str, str]
) -> None:
    assert share(quotas((*entity, 1)), "u", "c") == QuotaShare(*expected)


def test_for_a_client_without_an_id_only_quotas_of_users_count() -> None:
    of_clients = (("u", DEFAULT, 1), BOTH_DEFAULT, (NOT_SET, DEFAULT, 2))
    assert limit(quotas(*of_clients), "u", "") is None
    assert limit(quotas(*of_clients, (DEFAULT, NOT_SET, 4)), "u", "") == 4
    assert limit(quotas(*of_clients, (DEFAULT, NOT_SET, 4), ("u", NOT_SET, 5)), "u", "") == 5


def test_other_quotas_of_an_entity_do_not_count() -> None:
    assert client_quota(quotas(("u", NOT_SET, 1)), "producer_byte_rate", "u", "c") is None
