"""Appends of a leader's state machine to the log of its replica."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable

from kwire.controller.handlers.result import KRaftVersionRequest
from kwire.controller.raft import Append, RaftEvent, UpgradeKRaftVersion
from kwire.controller.server.raft_runtime import RaftRuntime
from kwire.controller.state_machine.deferred_event_queue import DeferredEventQueue
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError


class LogWriter:
    """Appends batches, each within one step of the replica.

    The replica answers an Append by an effect, which the state machine passes on to `appended` or
    `rejected` before `feed` returns: an append needs no await.
    """

    def __init__(self, runtime: RaftRuntime) -> None:
        self._runtime = runtime
        self._outcomes: dict[Hashable, int | ApiError] = {}

    def append(self, batch: bytes, epoch: int) -> int:
        """Have raft append a batch in an epoch; return the log's end. ApiError if it refuses."""
        token = self._runtime.token()
        return self._ask(Append(token=token, epoch=epoch, batch=batch), token)

    def upgrade(self, request: KRaftVersionRequest, epoch: int) -> None:
        """Append the records that raise kraft.version, or only validate; raise as `append` does."""
        token = self._runtime.token()
        upgrade = UpgradeKRaftVersion(
            token=token,
            epoch=epoch,
            kraft_version=request.level,
            validate_only=request.validate_only,
        )
        self._ask(upgrade, token)

    def appended(self, token: Hashable, end_offset: int) -> None:
        """Take the end of the log after an append."""
        self._outcomes[token] = end_offset

    def rejected(self, token: Hashable, error: int, message: str) -> None:
        """Take the reason for which an append was refused."""
        self._outcomes[token] = ApiError(ErrorCode(error), message)

    def _ask(self, event: RaftEvent, token: Hashable) -> int:
        self._runtime.feed(event)
        # Neither effect came: the replica has stopped.
        refused = ApiError(ErrorCode.NOT_CONTROLLER, "This controller is not the active one.")
        outcome = self._outcomes.pop(token, refused)
        if isinstance(outcome, ApiError):
            raise outcome
        return outcome


async def wait_for_commit(offset: int, deferred_events: DeferredEventQueue) -> None:
    """Wait until everything below `offset` is committed in an epoch; ApiError once it is over."""
    commit: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def release(error: ApiError | None) -> None:
        if commit.done():
            return
        if error is None:
            commit.set_result(None)
        else:
            commit.set_exception(error)

    deferred_events.defer(offset, release)
    await commit
