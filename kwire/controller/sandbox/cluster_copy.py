"""The copy that a sandbox controller begins with: a cluster's metadata at one offset."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from kwire.controller.raft import ElectionState, ReplicaKey
from kwire.controller.server.config.node_config import NodeConfig
from kwire.errors import InvalidValue
from kwire.image import MetadataImage
from kwire.logdir.bootstrap import write_bootstrap
from kwire.logdir.meta_properties import MetaProperties, write_meta_properties
from kwire.logdir.names import METADATA_FOLDER, OffsetAndEpoch
from kwire.logdir.quorum_state import QuorumState, write_quorum_state
from kwire.logdir.snapshots import build_snapshot, write_snapshot
from kwire.messages.data.voters_record import VotersRecord
from kwire.text.ids import ZERO_UUID

LISTENER = "CONTROLLER"

NEVER_MS = 1 << 30
"""Twelve days, for time-outs that heartbeats and fetches of real nodes would hold off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterCopy:
    """A cluster as an observer knows it.

    node_id: of its leader, in whose place the sandbox controller leads. end: offset and epoch of
    the image. epoch: of the leader. voters: of a dynamic quorum. static_voters: of a static one, as
    `id@host:port` in controller.quorum.voters.
    """

    cluster_id: str
    node_id: int
    end: OffsetAndEpoch
    epoch: int
    image: MetadataImage
    kraft_version: int = 0
    voters: VotersRecord | None = None
    static_voters: tuple[str, ...] = ()

    @property
    def directory_id(self) -> UUID:
        """The directory id of the leader; zero in a static quorum."""
        return self._key.wire_directory_id

    @property
    def listener(self) -> str:
        """The name of the voters' default listener."""
        voters = self.voters.voters if self.voters is not None else []
        names = (endpoint.name for voter in voters for endpoint in voter.endpoints)
        return next(names, LISTENER)

    def config(self, folder: Path) -> NodeConfig:
        """Return the configuration of the sandbox controller, which does not listen."""
        quorum = (
            {"controller.quorum.voters": ",".join(self.static_voters)}
            if self.voters is None
            # A dynamic quorum needs bootstrap servers, but the leader asks none of them.
            else {"controller.quorum.bootstrap.servers": "127.0.0.1:1"}
        )
        return NodeConfig.of(
            {
                "process.roles": "controller",
                "node.id": str(self.node_id),
                "log.dirs": str(folder),
                "listeners": f"{self.listener}://127.0.0.1:0",
                "advertised.listeners": f"{self.listener}://{self._advertised()}",
                "controller.listener.names": self.listener,
                "listener.security.protocol.map": f"{self.listener}:PLAINTEXT",
                "broker.session.timeout.ms": str(NEVER_MS),
                "controller.quorum.fetch.timeout.ms": str(NEVER_MS),
                **quorum,
            }
        )

    def write(self, folder: Path) -> None:
        """Write the directory of a replica that is about to be elected in the leader's epoch.

        Its quorum-state has the vote for itself in that epoch, its log begins at a snapshot of the
        image, whose voters are those of the cluster.
        """
        now = datetime.now(UTC)
        millis = int(now.timestamp() * 1000)
        log = folder / METADATA_FOLDER
        log.mkdir(parents=True)
        # Without bootstrap records: the snapshot has the cluster's own.
        write_bootstrap(folder, (), millis)
        snapshot = build_snapshot(
            self.image.records(),
            epoch=self.end.epoch,
            now=millis,
            last_contained_log_timestamp=millis,
            kraft_version=self.kraft_version,
            voters=self.voters,
        )
        write_snapshot(log, self.end, snapshot)
        # quorum-state v0 lists static voters, v1 knows directory ids (KIP-853).
        version = 1 if self.kraft_version else 0
        election = ElectionState(epoch=self.epoch, voted_key=self._key)
        voters = [int(voter.partition("@")[0]) for voter in self.static_voters]
        data = election.to_data(version, voters)
        write_quorum_state(log, QuorumState(data=data, version=version))
        meta = MetaProperties(
            cluster_id=self.cluster_id, node_id=self.node_id, directory_id=self.directory_id
        )
        write_meta_properties(folder, meta, now)

    @property
    def _key(self) -> ReplicaKey:
        for voter in self.voters.voters if self.voters is not None else []:
            if voter.voter_id == self.node_id:
                return ReplicaKey.from_wire(voter.voter_id, voter.voter_directory_id)
        if self.voters is not None:
            raise InvalidValue(f"controller {self.node_id} leads and is no voter: try again")
        return ReplicaKey.from_wire(self.node_id, ZERO_UUID)

    def _advertised(self) -> str:
        for voter in self.voters.voters if self.voters is not None else []:
            for endpoint in voter.endpoints:
                if voter.voter_id == self.node_id:
                    return f"{endpoint.host}:{endpoint.port}"
        prefix = f"{self.node_id}@"
        own = (voter for voter in self.static_voters if voter.startswith(prefix))
        return next(own, "127.0.0.1:1").removeprefix(prefix)
