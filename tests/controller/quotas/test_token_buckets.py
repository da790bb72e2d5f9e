"""Buckets of tokens, after Kafka's TokenBucketTest."""

import pytest

from kwire.controller.quotas.client_quota import QuotaShare
from kwire.controller.quotas.token_buckets import EXPIRATION_MS, MANY, TokenBucket, TokenBuckets

RATE, BURST = 5.0, 100.0
T = 1_700_000_000_000


def take(bucket: TokenBucket, count: int, now: int) -> TokenBucket:
    return bucket.refilled(RATE, BURST, now).without(count, RATE, BURST)


def test_tokens_are_taken_and_come_back() -> None:
    bucket = TokenBucket.filled(BURST, T)
    assert bucket.tokens == 100
    bucket = take(bucket, 60, T)
    assert bucket.tokens == pytest.approx(40)
    bucket = take(bucket, 5, T + 2000)
    assert bucket.tokens == pytest.approx(45)
    bucket = take(bucket, 60, T + 4000)
    assert bucket.tokens == pytest.approx(-5)
    assert bucket.full == pytest.approx(T + 4000 + 21_000)


def test_no_more_tokens_come_than_a_bucket_holds() -> None:
    bucket = take(TokenBucket.filled(BURST, T), 60, T)
    assert bucket.refilled(RATE, BURST, T + 60_000).tokens == 100


def test_at_another_rate_the_time_since_the_last_look_counts_at_that_rate() -> None:
    bucket = take(TokenBucket.filled(BURST, T), 160, T)
    assert bucket.refilled(10 * RATE, 10 * BURST, T + 1000).tokens == pytest.approx(-10)
    looked_at = bucket.refilled(RATE, BURST, T + 1000)
    assert looked_at.refilled(10 * RATE, 10 * BURST, T + 2000).tokens == pytest.approx(-5)


def test_a_bucket_that_was_not_used_for_an_hour_is_forgotten() -> None:
    share = QuotaShare("u", "c")
    debt = TokenBucket.filled(BURST, T).without(10**6, RATE, BURST)
    buckets = TokenBuckets().put(share, debt)
    assert buckets.bucket(share, BURST, T + EXPIRATION_MS) == debt
    assert buckets.bucket(share, BURST, T + EXPIRATION_MS + 1).tokens == BURST


def test_looks_do_not_keep_a_bucket() -> None:
    share = QuotaShare("u", "c")
    debt = TokenBucket.filled(BURST, T).without(10**6, RATE, BURST)
    looked_at = debt.refilled(RATE, BURST, T + EXPIRATION_MS)
    buckets = TokenBuckets().put(share, looked_at)
    assert buckets.bucket(share, BURST, T + EXPIRATION_MS + 1).tokens == BURST


def test_clients_that_come_once_do_not_fill_the_memory() -> None:
    buckets, debtor = TokenBuckets(), QuotaShare("u", "debtor")
    debt = TokenBucket.filled(BURST, T).without(10**6, RATE, BURST)
    buckets = buckets.put(debtor, debt)
    for number in range(5 * MANY):
        now = T + 100 * number
        full = TokenBucket.filled(BURST, now)
        buckets = buckets.put(QuotaShare("u", str(number)), full.without(1, RATE, BURST))
        assert len(buckets.by_share) <= MANY
    assert buckets.bucket(debtor, BURST, T + 1).tokens == debt.tokens


def test_buckets_in_debt_are_kept_however_many_there_are() -> None:
    buckets = TokenBuckets()
    for number in range(3 * MANY):
        debt = TokenBucket.filled(BURST, T).without(10**6, RATE, BURST)
        buckets = buckets.put(QuotaShare("u", str(number)), debt)
    assert len(buckets.by_share) == 3 * MANY


def test_a_bucket_can_be_discarded() -> None:
    first, second = QuotaShare("u", "c"), QuotaShare("u", "")
    bucket = TokenBucket.filled(BURST, T).without(1, RATE, BURST)
    buckets = TokenBuckets().put(first, bucket).put(second, bucket)
    assert dict(buckets.discard([first, QuotaShare("", "c")]).by_share) == {second: bucket}
