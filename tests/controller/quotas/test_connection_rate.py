"""Rates and waits are those that Kafka's own tests expect: RateTest, QuotaUtilsTest."""

from __future__ import annotations

import pytest

from kwire.controller.quotas.connection_rate import WINDOW_MS, ConnectionRate


def counted(rate: ConnectionRate, events: int, now: int) -> ConnectionRate:
    for _ in range(events):
        rate.record(now)
    return rate


@pytest.mark.parametrize("samples", [1, 11])
def test_windows_that_have_not_been_yet_count_as_empty(samples: int) -> None:
    """RateTest.testRateWithNoPriorAvailableSamples."""
    rate = counted(ConnectionRate(samples), 50, 0)
    assert rate.measure(999) == pytest.approx(50 / (0.999 + samples - 1))


def test_a_rate_is_consistent_after_its_first_window() -> None:
    """RateTest.testRateIsConsistentAfterTheFirstWindow."""
    rate, now = ConnectionRate(2), 0
    steps = [0, 99, *[100] * 9]
    for step in steps:
        now += step
        rate.record(now)
    now += 101
    for step in steps:
        now += step
        rate.record(now)
        assert 10 <= rate.measure(now) <= 11
        assert rate.measure(now) == rate.measure(now)


@pytest.mark.parametrize(
    ("samples", "events", "limit", "wait"),
    [
        # Of a rate that is measured at once, the window is samples - 1 seconds.
        pytest.param(2, 55, 50, 100, id="testBoundedThrottleTimeObservedRateAboveQuotaBelowLimit"),
        pytest.param(
            10, 900, 50, WINDOW_MS, id="testBoundedThrottleTimeObservedRateAboveQuotaAboveLimit"
        ),
        pytest.param(10, 9 * 50, 50, 0, id="testBoundedThrottleTimeObservedRateEqualsQuota"),
        pytest.param(10, 9 * 16, 22, 0, id="testBoundedThrottleTimeObservedRateBelowQuota"),
        pytest.param(11, 1, 0, WINDOW_MS, id="(O - 0) / 0 is infinite, and bounded"),
    ],
)
def test_the_wait_is_that_of_quota_utils(samples: int, events: int, limit: int, wait: int) -> None:
    rate = counted(ConnectionRate(samples), events, 0)
    assert rate.throttle_time_ms(limit, 0) == wait


def test_a_rate_above_the_limit_is_brought_down_to_it() -> None:
    """testListenerConnectionRateLimitWhenActualRateAboveLimit: 40 a second come, 30 are let in."""
    rate, limit, interval, tolerance = ConnectionRate(), 30, 25, 7
    now = 0
    for _ in range(600):
        now += interval
        now += rate_wait(rate, limit, now)
    assert 600 / (now / 1000) == pytest.approx(limit, abs=tolerance)


def rate_wait(rate: ConnectionRate, limit: int, now: int) -> int:
    rate.record(now)
    return rate.throttle_time_ms(limit, now)
