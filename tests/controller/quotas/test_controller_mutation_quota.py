"""One request's mutation quota, after Kafka's ControllerMutationQuotaManagerTest."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from kwire.controller.quotas.controller_mutation_quota import ControllerMutationQuota
from kwire.controller.quotas.token_buckets import TokenBuckets
from kwire.errors import ApiError
from kwire.image.client_quotas import ClientQuotasImage
from kwire.messages.records.client_quota import ClientQuotaRecord, EntityData

USER = [EntityData(entity_type="user", entity_name="alice")]
T = 1_700_000_000_000


def of_alice(limit: float) -> ClientQuotasImage:
    record = ClientQuotaRecord(
        entity=USER, key="controller_mutation_rate", value=limit, remove=False
    )
    return ClientQuotasImage().put(record)


class Client:
    """Alice, whose requests come one after the other. quotas: of now."""

    def __init__(self, limit: float = 10.0) -> None:
        self.quotas = of_alice(limit)
        self.now = T
        self.buckets = TokenBuckets()

    def record(self, *partitions: int, strict: bool) -> tuple[int, int]:
        """Return the number of topics refused in a request, and its throttle time."""
        quota = ControllerMutationQuota(
            self.buckets, self.quotas, user="alice", client_id="c", burst_seconds=10, now=self.now
        )
        refused = 0
        for count in partitions:
            with suppress(ApiError):
                quota.record(count, strict=strict)
                continue
            refused += 1
        self.buckets = quota.buckets
        return refused, quota.throttle_time_ms


def test_a_strict_quota_refuses_what_comes_when_it_is_used_up() -> None:
    client = Client()
    assert client.record(90, strict=True) == (0, 0)
    assert client.record(90, strict=True) == (0, 0)
    assert client.record(90, strict=True) == (1, 8000)
    client.now += 5000
    assert client.record(90, strict=True) == (1, 3000)
    client.now += 3000
    assert client.record(90, strict=True) == (0, 0)


def test_a_permissive_quota_takes_everything_and_throttles() -> None:
    client = Client()
    assert client.record(90, strict=False) == (0, 0)
    assert client.record(90, strict=False) == (0, 8000)
    assert client.record(90, strict=False) == (0, 17000)
    client.now += 5000
    assert client.record(0, strict=False) == (0, 12000)


def test_a_client_that_stays_below_its_rate_is_not_throttled() -> None:
    client = Client()
    for _ in range(10):
        assert client.record(10, strict=True) == (0, 0)
        client.now += 1000
    assert client.record(110, strict=True) == (0, 0)
    assert client.record(110, strict=True) == (1, 1000)
    client.now += 1000
    assert client.record(110, strict=True) == (0, 0)


def test_of_one_request_a_part_may_be_refused() -> None:
    client = Client(2.0)
    assert client.record(30, 30, strict=True) == (1, 5000)
    assert Client(2.0).record(30, 30, strict=False) == (0, 20_000)


def unlimited(client: Client) -> None:
    client.quotas = ClientQuotasImage()


def infinite(client: Client) -> None:
    client.quotas = of_alice(float("inf"))


def not_a_number(client: Client) -> None:
    client.quotas = of_alice(float("nan"))


@pytest.mark.parametrize("change", [unlimited, infinite, not_a_number])
def test_a_client_without_a_limit_begins_anew_when_it_has_one(
    change: Callable[[Client], None],
) -> None:
    client = Client()
    client.record(1000, strict=True)
    change(client)
    assert client.record(10**6, 10**6, strict=True) == (0, 0)
    assert client.record(10**6, 10**6, strict=False) == (0, 0)
    client.quotas = of_alice(10.0)
    assert client.record(100, 1, 1, strict=True) == (1, 100)


@pytest.mark.parametrize(
    ("debt", "limit", "expected"), [(5, 10.0, 500), (10, 10.0, 1000), (1, 3.0, 333), (1, 16.0, 63)]
)
def test_the_throttle_time_ends_when_the_debt_is_paid(
    debt: int, limit: float, expected: int
) -> None:
    client = Client(limit)
    client.record(10 * int(limit) + debt, strict=False)
    assert client.record(0, strict=True) == (1, expected)


@pytest.mark.parametrize("limit", [1e-9, 5e-324, 0.0, -1.0])
def test_no_throttle_time_is_too_large_for_the_response(limit: float) -> None:
    client = Client(limit)
    client.record(1, strict=False)
    assert client.record(1, strict=True) == (1, 2**31 - 1)
