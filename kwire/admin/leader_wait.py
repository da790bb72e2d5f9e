"""The wait of one operation for a controller that leads: how long, and the error at its end."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Self

from kwire.admin.cluster_description import ClusterDescription
from kwire.admin.controller_state import ControllerState
from kwire.admin.deadline import Deadline
from kwire.admin.failures import Failures
from kwire.errors import KwireError
from kwire.net.awaited import Awaited

ELECTION_WAIT = 1.0
"""Seconds to wait for a leader while too few controllers answer to elect one."""

LONGEST_ELECTION = 10.0
"""Seconds to wait for a leader while enough of them answer: that there is none is news by then."""

LEADER = "a controller that leads"


class LeaderWait:
    """Decides after each round over the nodes whether the operation goes on.

    awaited: is told that a leader is waited for. A context manager, for the time of the operation.
    """

    def __init__(self, deadline: Deadline, awaited: Awaited) -> None:
        self._deadline = deadline
        self._awaited = awaited
        self._notice = ExitStack()
        self._since: float | None = None
        self._states: tuple[ControllerState, ...] = ()
        self._error: KwireError | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._notice.close()

    async def pause(
        self,
        failures: Failures,
        cluster: ClusterDescription | None,
        states: tuple[ControllerState, ...] | None,
        reason: KwireError | None,
    ) -> None:
        """Pause before the next round; raise the error of the operation if there is none.

        cluster: None if no controller describes it, with the reason of the first of them. states:
        what the controllers tell of themselves; None if they were not asked, as another failure
        than that nobody leads ended the round.

        1. Too few controllers answer for an election: NoReachableLeader after ELECTION_WAIT.
        2. Nobody led for LONGEST_ELECTION: NoReachableLeader.
        3. A controller that has read no metadata has just started, and the others may be starting:
           only the deadline ends 1. and 2.
        """
        deadline = self._deadline
        if states is None:
            if not await deadline.pause():
                raise self.error_in_place_of(failures.last())
            self._since = self._error = None
            self._notice.close()
            return
        if self._since is None:
            self._since = deadline.elapsed
            self._notice.enter_context(self._awaited.asking(LEADER))
        # What is asked in the last moment is answered in part.
        self._states = self._states if deadline.is_over and self._states else states
        self._error = failures.no_leader(cluster, self._states, reason)
        # 1. and 2.
        few = deadline.elapsed > ELECTION_WAIT and failures.too_few(cluster)
        over = few or deadline.elapsed - self._since > LONGEST_ELECTION
        # 3.
        starting = any(state.lacks_metadata for state in states)
        if (over and not starting) or not await deadline.pause():
            raise self._error

    def error_in_place_of(self, error: KwireError) -> KwireError:
        """Return the error for one of the last moment: that nobody led before, if it was so."""
        return error if self._error is None or not self._deadline.is_over else self._error
