"""The metadata quorum's epoch, to tell a server's fault from a leader that changed meanwhile.

A check of several steps may create at one leader and ask another, whose committed log is shorter
for a moment (KIP-595). Such a FAIL says nothing, and is repeated once: only if the epoch is another
one than before that very check. Where nothing moved, nothing is repeated.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field, replace

from kwire.conform.check import Check
from kwire.conform.connection import CheckedConnection
from kwire.conform.expectation import first_error
from kwire.conform.result import CheckResult
from kwire.conform.run_check import run_check, why_not_run
from kwire.conform.server import MOVE_TIMEOUT
from kwire.conform.target import Target
from kwire.conform.transcript import Transcript
from kwire.conform.vocabulary import Deviation, Skipped
from kwire.error_codes import ErrorCode
from kwire.errors import KwireError
from kwire.net.address import Address
from kwire.net.quorum_request import quorum_request

_ASK_TIMEOUT = 2.0
_PAUSE = 0.1


@dataclass(slots=True, kw_only=True)
class EpochWatch:
    """The epoch of the quorum of one run, asked on a connection of its own."""

    target: Target
    _leader: CheckedConnection | None = None
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def run(self, check: Check) -> CheckResult:
        """Run a check; if it fails and the leader changed meanwhile, once more.

        A quorum of one voter, or of which nothing is known, is not asked: its leader stays.
        """
        if len(self.target.voters) < 2 or why_not_run(check, self.target):
            return await run_check(check, self.target)
        before = await self.epoch()
        first = await run_check(check, self.target)
        if not first.deviates:
            return first
        now = await self.settled_epoch()
        if now is None or now == before:
            return first
        result = await run_check(check, self.target)
        was = "an election" if before is None else f"epoch {before}"
        moved = f"repeated: the metadata quorum went from {was} to epoch {now} while it ran"
        left_behind = first.left_behind + result.left_behind
        reason = "; ".join(filter(None, (result.reason, moved)))
        return replace(result, reason=reason, left_behind=left_behind)

    async def epoch(self) -> int | None:
        """Return the leader's epoch, None if nobody leads."""
        async with self._asking:
            if self._leader is not None:
                if (epoch := await self._asked(self._leader)) is not None:
                    return epoch
                await self.close()
            for address in dict.fromkeys([self.target.address, *self.target.nodes.values()]):
                if (epoch := await self._asked_at(address)) is not None:
                    return epoch
            return None

    async def settled_epoch(self) -> int | None:
        """Return the leader's epoch once somebody leads, None if that takes too long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(MOVE_TIMEOUT * self.target.slowness):
                while (epoch := await self.epoch()) is None:  # noqa: ASYNC110
                    await asyncio.sleep(_PAUSE)
                return epoch
        return None

    async def close(self) -> None:
        """Disconnect."""
        if self._leader is not None:
            await self._leader.close()
            self._leader = None

    async def _asked_at(self, address: Address) -> int | None:
        try:
            connection = await CheckedConnection.open(
                address,
                versions=self.target.versions,
                transcript=Transcript(),
                security=self.target.security,
                timeout=_ASK_TIMEOUT,
                slowness=self.target.slowness,
            )
        except (OSError, KwireError):
            return None
        epoch = await self._asked(connection)
        if epoch is None:
            await connection.close()
        else:
            self._leader = connection
        return epoch

    async def _asked(self, connection: CheckedConnection) -> int | None:
        with suppress(OSError, KwireError, Deviation, Skipped):
            answer = await connection.ask(quorum_request(), timeout=_ASK_TIMEOUT)
            if first_error(answer) == ErrorCode.NONE:
                for topic in answer.topics:
                    for partition in topic.partitions:
                        epoch: int = partition.leader_epoch
                        return epoch
        return None
