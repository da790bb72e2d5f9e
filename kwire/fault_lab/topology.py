"""The topology file of `kwire conform --faults`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, ConfigDict

from kwire.errors import InvalidValue
from kwire.net.address import Address
from kwire.testing.faulty_network.topology import FaultNode, FaultTopology
from kwire.text.untrusted import read_text
from kwire.text.yaml_file import BadFile, Strict, read_yaml


def _address(value: object) -> Address:
    if not isinstance(value, str):
        raise ValueError("an address is host:port")
    return Address.parse(value)


_AddressText = Annotated[Address, BeforeValidator(_address)]


class BadTopology(BadFile):
    """A topology file that cannot be used."""


class _NodeLine(Strict):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)
    id: int
    role: str
    advertised: _AddressText
    listens: _AddressText


class _TopologyFile(Strict):
    nodes: tuple[_NodeLine, ...]
    spare_voter: int | None = None


def read_topology(path: Path) -> FaultTopology:
    """Read a topology file, docs/engineers/faults.md. Raises BadTopology, InvalidValue."""
    file = read_yaml(_TopologyFile, read_text(path, InvalidValue), BadTopology)
    for node in file.nodes:
        if node.role not in ("broker", "controller"):
            raise BadTopology(f"node {node.id}: role is broker or controller, not {node.role!r}")
    nodes = tuple(
        FaultNode(
            node_id=node.id,
            is_controller=node.role == "controller",
            advertised=node.advertised,
            upstream=node.listens,
        )
        for node in file.nodes
    )
    return FaultTopology(nodes=nodes, spare_voter=file.spare_voter)
