"""The quota of one request's sender on created and deleted partitions (KIP-599)."""

from __future__ import annotations

import sys
from functools import cached_property
from math import floor, isfinite

from kwire.controller.quotas.client_quota import ClientQuota, client_quota, shares
from kwire.controller.quotas.token_buckets import TokenBuckets
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image.client_quotas import ClientQuotasImage

KEY = "controller_mutation_rate"
"""The quota: partitions each second."""

_LOWEST_RATE = sys.float_info.min
_LONGEST_MS = 2**31 - 1


class ControllerMutationQuota:
    """Takes tokens for the partitions that one request creates and deletes.

    It belongs to the handling of that request, as in Java (ControllerMutationQuotaManager's
    StrictControllerMutationQuota and PermissiveControllerMutationQuota).

    buckets: those of all clients; with what the request has taken, also if it is refused as a
    whole later. throttle_time_ms: how long the client should wait, up to 2^31 - 1.
    quotas: the committed ones. user: without its type. burst_seconds: of the rate that a bucket
    holds. now: milliseconds since 1970.
    """

    def __init__(
        self,
        buckets: TokenBuckets,
        quotas: ClientQuotasImage,
        *,
        user: str,
        client_id: str,
        burst_seconds: int,
        now: int,
    ) -> None:
        self.buckets = buckets
        self.throttle_time_ms = 0
        self._quotas = quotas
        self._user = user
        self._client_id = client_id
        self._burst_seconds = burst_seconds
        self._now = now

    def record(self, partitions: int, *, strict: bool) -> None:
        """Take a token for each partition, if the client has a quota.

        1. Without a quota, or with one that is not finite: take none, and let a later quota begin
           with a full bucket.
        2. Let the tokens come in that are due since the last look.
        3. If the request is strict and the client in debt: THROTTLING_QUOTA_EXCEEDED, and nothing
           is taken.
        4. Take the tokens: as long as it is not in debt a client may take any number.
        5. If the request is not strict and the client in debt: it should wait, but is not refused.
        """
        quota = self._quota
        # 1.
        if quota is None or not isfinite(quota.limit):
            self.buckets = self.buckets.discard(shares(self._user, self._client_id))
            return
        rate = max(quota.limit, _LOWEST_RATE)
        burst = rate * self._burst_seconds
        # 2.
        bucket = self.buckets.bucket(quota.share, burst, self._now)
        bucket = bucket.refilled(rate, burst, self._now)
        # 3.
        is_refused = strict and bucket.tokens < 0
        # 4.
        if not is_refused:
            bucket = bucket.without(partitions, rate, burst)
        self.buckets = self.buckets.put(quota.share, bucket)
        # 3., 5.
        if bucket.tokens < 0 and (is_refused or not strict):
            self.throttle_time_ms = _throttle_time_ms(bucket.tokens, rate)
        if is_refused:
            text = f"The client's quota is used up for {self.throttle_time_ms} ms."
            raise ApiError(ErrorCode.THROTTLING_QUOTA_EXCEEDED, text)

    @cached_property
    def _quota(self) -> ClientQuota | None:
        """The same for the whole request, which may have thousands of topics."""
        return client_quota(self._quotas, KEY, self._user, self._client_id)


def _throttle_time_ms(tokens: float, rate: float) -> int:
    """Return the time until a bucket that is in debt has no debt any more."""
    # Java's Math.round; a longer time would not fit into the response.
    return floor(min(-tokens / rate * 1000, _LONGEST_MS) + 0.5)
