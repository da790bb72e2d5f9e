"""The bytes that pass at a listener that was opened because a message named its node.

Nobody configured such a node, so anything may be at its address. The proxy proves that a Kafka node
is there before it passes a byte (`proof`), and closes a connection at the first byte that is no
Kafka frame. Until a node has named the address as well, only the requests pass by which a node is
recognized.
"""

from __future__ import annotations

from kwire.errors import LocalError
from kwire.messages.registry import api_keys
from kwire.proxy.data_path.copies import Copies
from kwire.proxy.data_path.listener import ListenerGuard
from kwire.proxy.data_path.own_requests import PairingWithOwn
from kwire.proxy.flows.flow import ClientConnection, Flow, NoticeKind, Sink

PROBATION = api_keys("ApiVersions", "SaslHandshake", "SaslAuthenticate")
"""The APIs that pass before a node has named the address.

A leader that is asked to add a voter sends ApiVersions there, perhaps after SASL, before it accepts
the voter (KIP-853, AddVoterHandler).
"""


class NotPassed(LocalError):
    """Bytes that do not pass at a guarded listener: their connection is closed."""


class GuardedPairing(PairingWithOwn):
    """A pairing that lets no bytes through that it cannot pair. Its methods raise NotPassed.

    Bare tokens behind SaslHandshake v0 are counted, as in every pairing.
    """

    __slots__ = ("_guard",)

    def __init__(
        self, guard: ListenerGuard, connection: ClientConnection, sink: Sink, copies: Copies
    ) -> None:
        super().__init__(connection, sink, copies)
        self._guard = guard

    def begin_request(
        self,
        head: tuple[int, int, int],
        client_id: str | None,
        size: int,
        at: float,
        now: float,
        *,
        answered: bool = True,
    ) -> Flow:
        """Begin the flow of a request that may pass; return it."""
        flow = super().begin_request(head, client_id, size, at, now, answered=answered)
        if not self._guard.believed and flow.key not in PROBATION:
            reason = f"{flow.api} does not pass: no node has named {self._connection.upstream} yet"
            flow.problems.append(reason)
            self._refuse(reason, at)
        return flow

    def report_unreadable(self, text: str, at: float) -> None:
        """Close the connection instead of passing the bytes."""
        self._refuse(f"{text}: the connection is closed, since nobody configured this node", at)

    def report_lost(self, text: str, at: float) -> None:
        """Close the connection instead of passing what follows."""
        self.report_unreadable(text, at)

    def _refuse(self, reason: str, at: float) -> None:
        self.notify(NoticeKind.REFUSED, reason, at)
        raise NotPassed(reason)
