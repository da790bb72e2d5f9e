"""The controllers of a quorum in one process: ports, directories and settings of each."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from socket import AF_INET, SO_REUSEADDR, SOCK_STREAM, SOL_SOCKET, socket
from uuid import UUID

from kwire.controller.server.config.node_config import NodeConfig
from kwire.controller.server.environment import Environment
from kwire.controller.server.node import ControllerNode
from kwire.logdir.format import FormatOptions, plan, write
from kwire.logdir.names import META_PROPERTIES
from kwire.logdir.scram import FirstCredential
from kwire.logdir.voters import InitialVoter
from kwire.net.address import Address

LISTENER = "CONTROLLER"
LOCAL = "127.0.0.1"
OWN_PROPERTIES = (
    "process.roles",
    "node.id",
    "log.dirs",
    "listeners",
    "advertised.listeners",
    "controller.listener.names",
    "controller.quorum.bootstrap.servers",
)
"""Settings that a quorum makes for each of its nodes."""


@dataclass(slots=True, kw_only=True)
class QuorumMember:
    """One controller of a quorum, running or not: its directory and its port outlive restarts.

    bound: the socket that reserves the port until the first start. advertised: host and port that
    it tells other nodes, such as those of a proxy. directory_id: an observer's is known once it has
    started.
    """

    node_id: int
    directory_id: UUID
    folder: Path
    port: int
    advertised: tuple[str, int]
    is_voter: bool
    properties: dict[str, str]
    bound: socket | None = None
    node: ControllerNode | None = None


class QuorumMembers:
    """The members by node id, and what their directories are formatted with.

    folder: of their directories. properties: of server.properties, for all. release, scram: as of
    `Quorum`. new_id: returns a random id.
    """

    def __init__(
        self,
        folder: Path,
        *,
        cluster_id: str,
        properties: Mapping[str, str],
        release: str | None,
        scram: Sequence[FirstCredential],
        new_id: Callable[[], UUID],
    ) -> None:
        self.by_id: dict[int, QuorumMember] = {}
        self._folder = folder
        self._cluster_id = cluster_id
        self._properties = dict(properties)
        self._release = release
        self._scram = tuple(scram)
        self._new_id = new_id

    def add(
        self,
        node_id: int,
        *,
        is_voter: bool,
        properties: Mapping[str, str] | None = None,
        port: int | None = None,
    ) -> QuorumMember:
        """Add a member and return it. port: by default a free one, which is reserved at once."""
        # The socket is bound now, so that voters know each other's addresses before any of them
        # starts, and nothing else takes the port.
        bound = None
        if port is None:
            bound = _free_port()
            port = bound.getsockname()[1]
        member = self.by_id[node_id] = QuorumMember(
            node_id=node_id,
            directory_id=self._new_id(),
            folder=self._folder / f"node-{node_id}",
            port=port,
            advertised=(LOCAL, port),
            is_voter=is_voter,
            properties=dict(properties or {}),
            bound=bound,
        )
        return member

    @property
    def voters(self) -> list[QuorumMember]:
        """The initial voters."""
        return [member for member in self.by_id.values() if member.is_voter]

    def voter_addresses(self) -> dict[int, tuple[UUID, Address]]:
        """Return the directory and the advertised address of each initial voter, by node id."""
        return {
            voter.node_id: (voter.directory_id, Address(*voter.advertised)) for voter in self.voters
        }

    def server_properties(self, node_id: int) -> dict[str, str]:
        """Return the server.properties of a member; its own ones override those of all."""
        member = self.by_id[node_id]
        host, port = member.advertised
        return {
            "process.roles": "controller",
            "node.id": str(member.node_id),
            "log.dirs": str(member.folder),
            "listeners": f"{LISTENER}://{LOCAL}:{member.port}",
            "advertised.listeners": f"{LISTENER}://{host}:{port}",
            "listener.security.protocol.map": f"{LISTENER}:PLAINTEXT",
            "controller.listener.names": LISTENER,
            "controller.quorum.bootstrap.servers": ",".join(
                f"{host}:{port}" for host, port in (voter.advertised for voter in self.voters)
            ),
            **self._properties,
            **member.properties,
        }

    def format_once(self, node_id: int, config: NodeConfig, environment: Environment) -> None:
        """Format a member's directory, unless it is formatted already."""
        member, fs = self.by_id[node_id], environment.filesystem
        if fs.exists(member.folder / META_PROPERTIES):
            return
        voters = tuple(
            InitialVoter(
                node_id=voter.node_id,
                host=voter.advertised[0],
                port=voter.advertised[1],
                directory_id=voter.directory_id,
            )
            for voter in self.voters
        )
        options = FormatOptions(
            cluster_id=self._cluster_id,
            initial_controllers=voters if member.is_voter else (),
            no_initial_controllers=not member.is_voter,
            release_version=self._release,
            scram=self._scram,
        )
        formatting = plan(config.storage, options, self._new_id, fs)
        member.directory_id = formatting.directories[0][2]  # an observer's id is new
        write(formatting, datetime.fromtimestamp(environment.wall_clock(), UTC), fs)

    def close(self) -> None:
        """Release the ports of members that never started."""
        for member in self.by_id.values():
            if member.bound:
                member.bound.close()
                member.bound = None


def _free_port() -> socket:
    """Return a socket bound to a port of 127.0.0.1 that nothing else has."""
    bound = socket(AF_INET, SOCK_STREAM)
    if os.name == "posix":  # on Windows it would let others take the port
        bound.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
    bound.bind((LOCAL, 0))
    return bound
