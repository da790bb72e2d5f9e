"""A controller's own account of itself: from its properties file, or asked at its endpoint.

Kafka's tool reads the first from `--command-config` (MetadataQuorumCommand); the second says
whether a voter that is removed will join again by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast
from uuid import UUID

from kwire.admin.quorum import RaftVoterEndpoint
from kwire.errors import InvalidValue, KwireError
from kwire.logdir.meta_properties import read_meta_properties
from kwire.messages import a32_describe_configs as configs
from kwire.net.address import Address
from kwire.net.secure_connect import SecureConnect
from kwire.text.properties import read_properties
from kwire.text.untrusted import whole_number

AUTO_JOIN = "controller.quorum.auto.join.enable"

_BROKER = 4
"""The resource type of a node's configuration (org.apache.kafka.common.config.ConfigResource)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoiningController:
    """A controller as its files describe it."""

    node_id: int
    directory_id: UUID
    endpoints: tuple[RaftVoterEndpoint, ...]
    auto_join: bool


def read_controller(path: Path) -> JoiningController:
    """Read a controller's server.properties, and meta.properties in its metadata directory.

    1. node.id, and process.roles with `controller` in it.
    2. The directory id of metadata.log.dir, else of the first of log.dirs.
    3. An endpoint for each of controller.listener.names, advertised or not.

    Raises InvalidValue, which names the file and the property.
    """
    pairs = read_properties(path)
    try:
        # 1.
        node_id = whole_number(pairs.get("node.id", ""), bits=31)
        if node_id is None:
            raise InvalidValue("node.id is missing, or no number from 0 on")
        if "controller" not in _listed(pairs.get("process.roles", "")):
            raise InvalidValue("process.roles has no controller in it")
        return JoiningController(
            node_id=node_id,
            directory_id=_directory_id(pairs),
            endpoints=tuple(_endpoints(pairs)),
            auto_join=pairs.get(AUTO_JOIN, "").strip().lower() == "true",
        )
    except InvalidValue as error:
        raise InvalidValue(f"{path}: {error}") from None


async def joins_by_itself(
    connect: SecureConnect, endpoint: RaftVoterEndpoint, node_id: int
) -> bool | None:
    """Ask a controller whether controller.quorum.auto.join.enable is true; None if it is not known.

    Inactive controllers answer for themselves (KIP-919); Kafka has the property since 4.2.
    """
    resource = configs.DescribeConfigsResource(
        resource_type=_BROKER, resource_name=str(node_id), configuration_keys=(AUTO_JOIN,)
    )
    try:
        async with await connect(Address(endpoint.host, endpoint.port)) as connection:
            answer = await connection.send(configs.DescribeConfigsRequest(resources=[resource]))
    except KwireError:
        return None
    for result in cast(configs.DescribeConfigsResponse, answer).results:
        for config in result.configs:
            if config.name == AUTO_JOIN and not result.error_code:
                return config.value == "true"
    return None


def _directory_id(pairs: dict[str, str]) -> UUID:
    # 2.
    log_dirs = _listed(pairs.get("log.dirs") or pairs.get("log.dir", ""))
    folder = pairs.get("metadata.log.dir") or (log_dirs[0] if log_dirs else "")
    if not folder:
        raise InvalidValue("neither metadata.log.dir nor log.dirs names a directory")
    properties = read_meta_properties(Path(folder))
    if properties is None:
        raise InvalidValue(f"{folder} is not formatted: it has no meta.properties")
    if properties.directory_id is None:
        raise InvalidValue(f"{folder} has no directory.id in its meta.properties")
    return properties.directory_id


def _endpoints(pairs: dict[str, str]) -> list[RaftVoterEndpoint]:
    # 3.
    by_name = {}
    for name in ("listeners", "advertised.listeners"):
        for entry in _listed(pairs.get(name, "")):
            listener, _, address = entry.partition("://")
            host, _, digits = address.rpartition(":")
            port = whole_number(digits, bits=16)
            if port is None:
                raise InvalidValue(f"{name}: {entry} has no port")
            by_name[listener.upper()] = (host.strip("[]") or "localhost", port)
    names = _listed(pairs.get("controller.listener.names", ""))
    if not names:
        raise InvalidValue("controller.listener.names is missing")
    for name in names:
        if name.upper() not in by_name:
            raise InvalidValue(f"controller.listener.names has {name}, which listeners do not")
    addresses = [(name.upper(), *by_name[name.upper()]) for name in names]
    return [RaftVoterEndpoint(name=name, host=host, port=port) for name, host, port in addresses]


def _listed(text: str) -> list[str]:
    return [stripped for part in text.split(",") if (stripped := part.strip())]
