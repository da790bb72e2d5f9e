"""Reads what a plan depends on: brokers from ZooKeeper, and their own configuration (KIP-866)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from kwire.admin.errors import raise_for_code
from kwire.errors import ConnectionFailed, InvalidValue, KwireError
from kwire.messages.a32_describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from kwire.messages.config_resource import ConfigSource, ResourceType
from kwire.migration.operator.plan import (
    OF_THE_SESSION,
    PlanInput,
    PlannedBroker,
    PlannedController,
)
from kwire.migration.operator.zookeeper_side import not_kafka
from kwire.net.address import Address
from kwire.net.many_at_once import many_at_once
from kwire.net.secure_connect import SecureConnect
from kwire.zookeeper import ZooKeeper
from kwire.zookeeper.lookups import get_or_none
from kwire.zookeeper.metadata import read_metadata
from kwire.zookeeper.znodes import BrokerZnode, ClusterIdZnode
from kwire.zookeeper.zookeeper_metadata import MetadataPart

CONFIG_KEYS = (
    "authorizer.class.name",
    "inter.broker.listener.name",
    "inter.broker.protocol.version",
    "listener.security.protocol.map",
    "log.dirs",
    "password.encoder.secret",
    "security.inter.broker.protocol",
    *OF_THE_SESSION,
)
"""The configuration of brokers that a plan depends on; of secrets only that they are set."""

BROKERS_AT_ONCE = 16
"""Brokers that are asked for their configuration at a time."""


async def read_plan_input(
    zookeeper: ZooKeeper,
    connect: str,
    controllers: Sequence[PlannedController],
    *,
    connect_to: SecureConnect,
    listener: str,
    protocol: str,
) -> PlanInput:
    """Return what a plan depends on; a broker that does not answer is known by ZooKeeper alone.

    Raises ConnectionFailed if no broker is registered or no cluster is there, InvalidValue if a
    controller has the id of a broker, KwireError if ZooKeeper cannot be read.
    """
    cluster = await get_or_none(zookeeper, ClusterIdZnode.path)
    if cluster is None:
        raise await not_kafka(zookeeper, connect)
    found = (await read_metadata(zookeeper, parts={MetadataPart.BROKERS})).brokers
    if not found:
        raise ConnectionFailed(
            f"ZooKeeper {connect} has no broker: start the brokers in ZooKeeper mode first"
        )
    if taken := sorted({node.node_id for node in controllers} & found.keys()):
        raise InvalidValue(f"a controller cannot have id {taken[0]}: broker {taken[0]} has it")

    async def read(broker_id: int) -> PlannedBroker:
        return await _planned(broker_id, found[broker_id].value, connect_to)

    brokers = await many_at_once(sorted(found), read, limit=BROKERS_AT_ONCE)
    versions = {broker.configs.get("inter.broker.protocol.version", "") for broker in brokers}
    return PlanInput(
        connect=connect,
        cluster_id=ClusterIdZnode.parse(cluster.data).cluster_id,
        brokers=tuple(brokers),
        controllers=tuple(controllers),
        version=max(versions),
        listener=listener,
        protocol=protocol,
    )


async def _planned(broker_id: int, znode: BrokerZnode, connect: SecureConnect) -> PlannedBroker:
    protocols = {end.listener: end.security_protocol for end in znode.endpoints}
    addresses = [
        Address(end.host, end.port)
        for end in znode.endpoints
        if end.security_protocol == connect.security.protocol
    ]
    if not addresses:
        unknown = f"it has no listener of {connect.security.protocol}: give --command-config"
        return PlannedBroker(node_id=broker_id, protocols=protocols, unknown=unknown)
    try:
        configs = await _configs(connect, addresses[0], broker_id)
    except (KwireError, TimeoutError) as error:
        unknown = str(error) or f"{addresses[0]} does not answer"
        return PlannedBroker(node_id=broker_id, protocols=protocols, unknown=unknown)
    # The map has listeners, too, that are not advertised.
    pairs = (
        text.strip().partition(":")
        for text in configs.get("listener.security.protocol.map", "").split(",")
    )
    mapped = {name: protocol for name, colon, protocol in pairs if colon}
    own = {**protocols, **{name: mapped[name] for name in mapped if not _is_default(name, mapped)}}
    return PlannedBroker(node_id=broker_id, protocols=own, configs=configs)


def _is_default(name: str, mapped: dict[str, str]) -> bool:
    """True for an entry that every map has by default, as `SSL:SSL`."""
    return mapped[name] == name


async def _configs(connect: SecureConnect, address: Address, broker_id: int) -> dict[str, str]:
    resource = DescribeConfigsResource(
        resource_type=ResourceType.BROKER,
        resource_name=str(broker_id),
        configuration_keys=CONFIG_KEYS,
    )
    async with await connect(address) as connection:
        answer = await connection.send(DescribeConfigsRequest(resources=[resource]))
    response = cast(DescribeConfigsResponse, answer)
    for result in response.results:
        raise_for_code(result.error_code, result.error_message)
        values = {config.name: config.value for config in result.configs}
        secrets = {
            config.name: ""
            for config in result.configs
            if config.is_sensitive and config.config_source not in (-1, ConfigSource.DEFAULT)
        }
        return {name: value for name, value in values.items() if value is not None} | secrets
    raise ConnectionFailed(f"{address} left its configuration out")
