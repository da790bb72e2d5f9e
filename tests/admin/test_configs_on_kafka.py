"""Configuration of controllers, asked of each of them, active or not (KIP-919)."""

import re

from kwire.admin import AdminClient
from kwire.admin.configs import AlterConfigOperation, ConfigChange
from kwire.messages.config_resource import ConfigResource, ConfigSource, ResourceType
from real_kafka import Cluster
from tests.support.eventually import eventually

RATE = "follower.replication.throttled.rate"


async def test_every_controller_tells_and_takes_its_own_configuration(quorum: Cluster) -> None:
    nodes = {
        node_id: ConfigResource(ResourceType.BROKER, str(node_id)) for node_id in quorum.controllers
    }
    async with AdminClient(bootstrap_controllers=quorum.bootstrap_controllers, timeout=60) as admin:
        described = (await admin.describe_configs(nodes.values())).all()
        listeners = {described[node]["advertised.listeners"].value for node in nodes.values()}
        assert len(listeners) == 3

        # The active controller writes the settings of all of them.
        rate = [ConfigChange(name=RATE, value="7")]
        unset = [ConfigChange(name=RATE, operation=AlterConfigOperation.DELETE)]
        (await admin.incremental_alter_configs(dict.fromkeys(nodes.values(), rate))).all()
        found = await eventually(
            lambda: admin.describe_configs(nodes.values(), names=[RATE]),
            lambda outcomes: all(outcomes[node] for node in nodes.values()),
        )
        for node in nodes.values():
            entry = found[node][RATE]
            assert entry.source == ConfigSource.DYNAMIC_BROKER
        told = quorum.tool(
            "kafka.admin.ConfigCommand",
            "--bootstrap-controller",
            quorum.bootstrap_controllers,
            *("--describe", "--entity-type", "brokers", "--entity-name", "3001"),
        )
        assert re.search(rf"{RATE}=", told.stdout), told.stderr
        (await admin.incremental_alter_configs(dict.fromkeys(nodes.values(), unset))).all()

        # Each has loggers of its own, which are not in the metadata log.
        loggers = [ConfigResource(ResourceType.BROKER_LOGGER, node.name) for node in nodes.values()]
        levels = (await admin.describe_configs(loggers)).all()
        assert all("root" in entries for entries in levels.values())
        root = [ConfigChange(name="root", value=levels[loggers[1]]["root"].value)]
        assert (await admin.incremental_alter_configs({loggers[1]: root})).all()
