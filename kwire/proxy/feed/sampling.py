"""A sample of flows where more pass than a screen can show: all errors, some of each API."""

from __future__ import annotations

from kwire.messages.a58_envelope import EnvelopeRequest
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import Event, Flow, Outcome
from kwire.proxy.flows.walk import has_failures

RATE, BURST = 500.0, 1000.0
"""Flows a second that pass, whatever they are; at once after a pause."""

WAITING = 500
"""Events that may wait to be sent: if more do, those with errors are not to wait behind others."""

PERIOD, KINDS = 0.1, 50
"""Seconds in which one more flow of each API of a connection passes, and how many of these."""


class Sampler:
    """Decides which events are in the sample, in the order in which they come.

    1. While no more than RATE come in a second, and they can be sent, all of them are.
    2. Of more, in each PERIOD one of each API of a connection is: what is rare is seen.
    3. Notices, and flows with an error, a problem or no response, always are.
    """

    def __init__(self) -> None:
        self._allowed = BURST
        self._at = self._period_began = 0.0
        self._kinds: set[tuple[int, int]] = set()

    def takes(self, event: Event, monotonic: float, waiting: int) -> bool:
        """Return True if an event that came at a monotonic time, in seconds, is in the sample.

        waiting: how many wait to be sent.
        """
        # 1.
        self._allowed = min(self._allowed + (monotonic - self._at) * RATE, BURST)
        self._at = monotonic
        if self._allowed >= 1 and waiting < WAITING:
            self._allowed -= 1
            return True
        # 2.
        if monotonic - self._period_began >= PERIOD:
            self._period_began = monotonic
            self._kinds.clear()
        kind = event.connection.number, event.key if isinstance(event, Flow) else -1
        if kind not in self._kinds and len(self._kinds) < KINDS:
            self._kinds.add(kind)
            return True
        # 3.
        return not isinstance(event, Flow) or _is_wrong(event)


def _is_wrong(flow: Flow) -> bool:
    if flow.outcome is Outcome.LOST or flow.problems or flow.effects:
        return True
    decoded = DecodedFlow(flow)
    if decoded.response is None:
        return flow.response_copy is not None
    # Not `failures`, which makes their paths, too: most responses have none.
    if has_failures(decoded.response.body):
        return True
    return flow.key == EnvelopeRequest.key and bool(decoded.failures)
