"""Buckets of tokens, one for each quota that was used lately (Java: TokenBucket, SensorAccess)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

from rpds import HashTrieMap

from kwire.controller.quotas.client_quota import QuotaShare

EXPIRATION_MS = 3_600_000
"""Milliseconds without use after which a bucket is forgotten, whatever is in it (Java:
ClientQuotaManager.InactiveSensorExpirationTimeSeconds)."""

MANY = 1000
"""Buckets from which on those that make no difference are looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBucket:
    """The tokens at a point in time, milliseconds since 1970.

    tokens: below 0 if more were taken than there were. taken: when some were taken last.
    full: when it will be full at its present rate.
    """

    tokens: float
    updated: int
    taken: int
    full: float

    @classmethod
    def filled(cls, burst: float, now: int) -> Self:
        """Return a full bucket."""
        return cls(tokens=burst, updated=now, taken=now, full=now)

    def refilled(self, rate: float, burst: float, now: int) -> TokenBucket:
        """Return the bucket later: with `rate` tokens more each second, but `burst` at most.

        The rate of now counts for the whole time since the last update, as in Java.
        """
        tokens = min(burst, self.tokens + rate * (now - self.updated) / 1000)
        return replace(self, tokens=tokens, updated=now)

    def without(self, count: int, rate: float, burst: float) -> TokenBucket:
        """Return the bucket after some tokens were taken, whether there are as many or not."""
        tokens = self.tokens - count
        full = self.updated + (burst - tokens) / rate * 1000
        return replace(self, tokens=tokens, taken=self.updated, full=full)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBuckets:
    """The buckets that are not known to be full; a value. sweep_at: their number at which to look
    for those that are by now."""

    by_share: HashTrieMap[QuotaShare, TokenBucket] = HashTrieMap()
    sweep_at: int = MANY

    def bucket(self, share: QuotaShare, burst: float, now: int) -> TokenBucket:
        """Return the bucket as it was last updated; a full one if it was not used for an hour."""
        found = self.by_share.get(share)
        if found is None or found.taken + EXPIRATION_MS < now:
            return TokenBucket.filled(burst, now)
        return found

    def put(self, share: QuotaShare, bucket: TokenBucket) -> TokenBuckets:
        """Keep a bucket, and forget those that are full or expired if there are many."""
        buckets = self.by_share.insert(share, bucket)
        if len(buckets) < self.sweep_at:
            return replace(self, by_share=buckets)
        now = bucket.updated
        kept = HashTrieMap(
            {
                share: bucket
                for share, bucket in buckets.items()
                if bucket.full > now and bucket.taken + EXPIRATION_MS >= now
            }
        )
        # Twice as many until the next time: each bucket pays for one look.
        return TokenBuckets(by_share=kept, sweep_at=max(MANY, 2 * len(kept)))

    def discard(self, shares: Iterable[QuotaShare]) -> TokenBuckets:
        """Forget buckets, if they are there."""
        by_share = self.by_share
        for share in shares:
            by_share = by_share.discard(share)
        return replace(self, by_share=by_share)
