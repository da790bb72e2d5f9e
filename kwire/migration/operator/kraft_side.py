"""Reads the side of the controllers: each one's own answers, and the metadata log (KIP-866)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Self, cast

from kwire.admin.quorum import QuorumInfo, quorum_of
from kwire.doctor.evidence import Evidence, NodeEvidence
from kwire.doctor.gather import gather
from kwire.errors import ConnectionFailed, KwireError
from kwire.image import EMPTY, MetadataImage
from kwire.messages.a55_describe_quorum import DescribeQuorumResponse
from kwire.migration.operator.facts import KRaftFacts
from kwire.migration.operator.image_history import ImageHistory
from kwire.net.address import Address
from kwire.net.quorum_request import quorum_request
from kwire.net.secure_connect import SecureConnect
from kwire.net.security import PLAINTEXT, Security
from kwire.net.timeouts import DEFAULT_TIMEOUTS, Timeouts
from kwire.observer import LiveImage

CLIENT_ID = "kwire-migration"
KNOWN_AGE = 60.0
"""Seconds after which other controllers are looked for."""

FAILED_AGE = 5.0
"""Seconds after which one that failed, or one that leads, is looked for."""


class KRaftSide:
    """Observes the metadata log while its context lasts.

    servers: as the user wrote them. timeouts: for each controller and each answer; the log is read
    to its end in the time of an operation.
    """

    def __init__(
        self,
        servers: str,
        controllers: Sequence[Address],
        *,
        security: Security = PLAINTEXT,
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
    ) -> None:
        self.servers = servers
        self._controllers = tuple(controllers)
        self._timeout = timeouts.operation
        self._connect = SecureConnect(security, CLIENT_ID, timeouts=timeouts)
        self._live: LiveImage | None = None
        self._history: ImageHistory | None = None
        self._known: tuple[NodeEvidence, ...] = ()
        self._known_at = self._failed_at = 0.0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._live is not None:
            await self._live.__aexit__(kind, error, traceback)

    def at(self, offset: int) -> MetadataImage | None:
        """Return the image with all records up to this one, None if the log begins later."""
        assert self._history is not None, "facts come first"
        return self._history.at(offset)

    def since(self, offset: int) -> list[tuple[int, MetadataImage]]:
        """Return the image at an offset, or the earliest, and those after it, with offsets."""
        assert self._history is not None, "facts come first"
        return self._history.since(offset)

    @property
    def end(self) -> int:
        """The offset after the last record that was read; 0 before the log was."""
        return 0 if self._live is None else self._live.offset

    @property
    def image(self) -> MetadataImage:
        """The committed metadata up to `end`."""
        return EMPTY if self._live is None else self._live.image

    async def facts(self) -> KRaftFacts:
        """Return what the controllers tell now.

        1. Ask each for itself.
        2. Read the log, if somebody leads.

        Raises ConnectionFailed if none answers.
        """
        # 1.
        evidence = await self._evidence()
        if not evidence.controllers:
            self._known = ()
            raise _no_controller(evidence)
        # 2.
        reason = await self._follow(evidence)
        return self._facts(evidence, reason)

    async def _evidence(self) -> Evidence:
        """Ask for everything now and then, else only for what changes.

        A node tells its id by refusing a request, which it logs each time. So everything is asked
        for at the first look, then if a node that had failed answers, if no known node leads, and
        once a minute.
        """
        now = asyncio.get_running_loop().time()
        age = now - self._known_at
        if self._known and age <= KNOWN_AGE:
            evidence = await self._evidence_again(now)
            came = {node.address for node in evidence.nodes if not node.failure}
            has_come = any(node.failure and node.address in came for node in self._known)
            if not has_come and (evidence.leaders or age <= FAILED_AGE):
                return evidence
        evidence = await gather(
            self._controllers,
            security=self._connect.security,
            with_image=False,
            timeouts=self._connect.timeouts,
        )
        self._known, self._known_at = evidence.nodes, now
        self._failed_at = now
        return evidence

    async def _evidence_again(self, now: float) -> Evidence:
        """Ask the known nodes for what changes; those that failed only now and then.

        A silent one takes all of its time.
        """
        asks_failed = now - self._failed_at > FAILED_AGE
        if asks_failed:
            self._failed_at = now
        asked = [node for node in self._known if asks_failed or not node.failure]
        again = await asyncio.gather(*(_asked_again(self._connect, node) for node in asked))
        answers = {node.address: node for node in again}
        return Evidence(nodes=tuple(answers.get(node.address, node) for node in self._known))

    async def _follow(self, evidence: Evidence) -> str:
        """Wait until the log is read; return why it is not, or an empty text."""
        await self._leave_another_log(evidence)
        if not evidence.leaders and self._live is None:
            return "no controller that leads was reached"
        if self._live is None:
            # The one that leads comes first: another may be slow.
            nodes = sorted(evidence.controllers, key=lambda node: node.quorum is None)
            live = LiveImage(
                [*dict.fromkeys(node.address for node in nodes)],
                open=self._connect,
                patience=self._connect.timeouts.request_seconds,
            )
            self._history = ImageHistory(live)
            self._live = await live.__aenter__()
        try:
            async with asyncio.timeout(self._timeout):
                await self._live.ready()
        except TimeoutError:
            trouble = f": {self._live.trouble}" if self._live.trouble else ""
            return f"no leader gave it within {self._timeout:g} s: it is slow, or hangs{trouble}"
        except KwireError as error:
            return str(error)
        return "" if self._live.leader is not None else "nobody leads; it is as it was last"

    async def _leave_another_log(self, evidence: Evidence) -> None:
        """Read the log from its start if the controllers were formatted anew meanwhile.

        Within one log epochs only rise, and no controller serves who knows a later one than its.
        """
        live, quorum = self._live, evidence.quorum
        if live is None or live.leader is not None or quorum is None:
            return
        if 0 <= quorum.leader_epoch < live.observer.epoch:
            await live.__aexit__(None, None, None)
            self._live = self._history = None

    async def until(self, offset: int) -> bool:
        """Wait until the record of an offset was read; False if that takes too long."""
        assert self._live is not None, "facts come first"
        try:
            async with asyncio.timeout(self._timeout):
                while self._live.offset <= offset:
                    await self._live.changed()
        except TimeoutError:
            return False
        return True

    def _facts(self, evidence: Evidence, reason: str) -> KRaftFacts:
        live = self._live
        has_image = live is not None and live.image is not EMPTY
        quorum = evidence.quorum
        ids = [node.cluster.cluster_id for node in evidence.controllers if node.cluster]
        return KRaftFacts(
            servers=self.servers,
            cluster_id=next(iter(ids), None),
            leader_id=quorum.leader_id if quorum else -1,
            epoch=quorum.leader_epoch if quorum else -1,
            voters=_voters(evidence),
            image=live.image if live is not None and has_image else None,
            end=live.offset if live is not None else 0,
            no_image=reason,
            ready_tags={
                node.node_id: node.api.zk_migration_ready
                for node in evidence.controllers
                if node.node_id is not None and node.api is not None
            },
            silent=tuple(node.failure for node in evidence.nodes if node.failure),
        )


async def _asked_again(connect: SecureConnect, node: NodeEvidence) -> NodeEvidence:
    """Return a node with what it answers now; never raises for what it does."""
    # A silent one must not keep the others' news back; at the next full look it has all the time.
    within = FAILED_AGE if node.failure else None
    try:
        connection = await connect(node.address, within)
    except KwireError as error:
        return NodeEvidence(address=node.address, failure=str(error))
    quorum: QuorumInfo | None = None
    async with connection:
        # Only the leader tells it.
        with suppress(KwireError, TimeoutError):
            answer = await connection.send(
                quorum_request(), timeout=connect.timeouts.request_seconds
            )
            quorum = quorum_of(cast(DescribeQuorumResponse, answer))
    return replace(node, failure=None, api=connection.node, quorum=quorum)


def _voters(evidence: Evidence) -> frozenset[int]:
    """Return the voters, or while nobody leads the controllers that answer."""
    if evidence.quorum is not None:
        return frozenset(voter.replica_id for voter in evidence.quorum.voters)
    return frozenset(node.node_id for node in evidence.controllers if node.node_id is not None)


def _no_controller(evidence: Evidence) -> KwireError:
    failures = [node.failure for node in evidence.nodes if node.failure]
    if failures:
        return ConnectionFailed("; ".join(dict.fromkeys(failures)))
    addresses = ", ".join(str(node.address) for node in evidence.nodes)
    return ConnectionFailed(f"{addresses}: a broker answers, not a controller")
