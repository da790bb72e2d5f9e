"""Polls DescribeQuorum, and keeps the quorum only while a leader tells it."""

from __future__ import annotations

import asyncio
import logging
import time

from kwire.admin import AdminClient
from kwire.admin.quorum import QuorumInfo
from kwire.errors import KwireError

log = logging.getLogger(__name__)

SILENCE = 5.0
"""Seconds by which an answer may be late, where answers do not take longer, before what was known
is known no more."""


def age_limit(answered_in: float) -> float:
    """Return after how many seconds without an answer nothing is known; given the last one's."""
    return max(SILENCE, 2 * answered_in)


class QuorumWatch:
    """Asks every `interval` seconds who leads, and how far the replicas are.

    elections: epochs that began since the first answer. answered, failed: polls by their result.
    seconds: how long the last poll took, None before its end; answered_in: the last that was
    answered. answered_at: Unix time of the last answer, None before it. cluster_id: empty until a
    node has told it. failure: why there is no quorum now.
    """

    def __init__(self, client: AdminClient, interval: float) -> None:
        self._client = client
        self._interval = interval
        self._quorum: QuorumInfo | None = None
        self._epoch: int | None = None
        self._heard = 0.0
        self.elections = 0
        self.answered = 0
        self.failed = 0
        self.seconds: float | None = None
        self.answered_in = 0.0
        self.answered_at: float | None = None
        self.cluster_id = ""
        self.failure = "no node has answered yet"

    @property
    def quorum(self) -> QuorumInfo | None:
        """The quorum of the last poll; None if no leader answered it, or if it is too old."""
        # A leader may hang, and a machine that slept wakes up with an answer of hours ago.
        age = time.monotonic() - self._heard
        return self._quorum if age <= self._interval + age_limit(self.answered_in) else None

    async def run(self) -> None:
        """Poll for ever."""
        while True:
            began = time.monotonic()
            await self.poll()
            self.seconds = time.monotonic() - began
            await asyncio.sleep(max(0.0, self._interval - self.seconds))

    async def poll(self) -> None:
        """Ask once; an error is kept as the `failure`, and logged where it is another one."""
        began = time.monotonic()
        try:
            quorum = await self._client.describe_metadata_quorum()
        except KwireError as error:
            self._fail(str(error))
            return
        self.answered_in = time.monotonic() - began
        if self.failure:
            log.info("node %d leads in epoch %d", quorum.leader_id, quorum.leader_epoch)
        self._keep(quorum)
        await self._learn_cluster_id()

    def _keep(self, quorum: QuorumInfo) -> None:
        if self._epoch is not None:
            self.elections += max(0, quorum.leader_epoch - self._epoch)
        self._quorum, self._epoch, self.failure = quorum, quorum.leader_epoch, ""
        self._heard, self.answered_at = time.monotonic(), time.time()
        self.answered += 1

    def _fail(self, reason: str) -> None:
        if reason != self.failure:
            log.warning("the quorum cannot be described: %s", reason)
        self._quorum, self.failure = None, reason
        self.failed += 1

    async def _learn_cluster_id(self) -> None:
        if self.cluster_id:
            return
        try:
            cluster_id = await self._client.cluster_id()
        except KwireError as error:
            log.debug("the cluster id is not known yet: %s", error)
        else:
            self.cluster_id = cluster_id or ""
