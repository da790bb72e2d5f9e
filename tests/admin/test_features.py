"""Feature levels of real Kafka, held against what Kafka's own tool says of them."""

import re

import pytest

from kwire.admin import AdminClient
from kwire.admin.errors import NodeNotFound
from real_kafka import Cluster


def java(cluster: Cluster, bootstrap: str) -> tuple[dict[str, tuple[str, str, str]], set[str]]:
    """Lowest, highest and finalized level by feature, and the epochs told."""
    option = {"bootstrap_controllers": "--bootstrap-controller"}.get(bootstrap)
    told = cluster.tool(
        "org.apache.kafka.tools.FeatureCommand",
        option or "--bootstrap-server",
        getattr(cluster, bootstrap),
        "describe",
    )
    rows = re.findall(
        r"Feature: (\S+)\s+SupportedMinVersion: (\S+)\s+SupportedMaxVersion: (\S+)\s+"
        r"FinalizedVersionLevel: (\S+)\s+Epoch: (\d+)",
        told.stdout,
    )
    assert rows, told.stderr
    return {row[0]: (row[1], row[2], row[3]) for row in rows}, {row[4] for row in rows}


@pytest.mark.parametrize("bootstrap", ["bootstrap_controllers", "bootstrap_servers"])
async def test_levels_are_those_of_kafkas_own_tool(quorum: Cluster, bootstrap: str) -> None:
    told, epochs = java(quorum, bootstrap)
    async with AdminClient(**{bootstrap: getattr(quorum, bootstrap)}, timeout=60) as admin:
        features = await admin.describe_features()
    assert set(features.supported_features) == set(told)
    for name, supported in features.supported_features.items():
        if name == "metadata.version":
            continue  # the tool writes 4.3-IV0 for level 30
        finalized = features.finalized_features.get(name)
        level = finalized.max_version if finalized else 0
        assert told[name] == (str(supported.min_version), str(supported.max_version), str(level))
    assert features.finalized_features["metadata.version"].max_version == 30
    assert features.finalized_features_epoch is not None
    if bootstrap == "bootstrap_controllers":  # a broker's epoch grows by itself
        assert {str(features.finalized_features_epoch)} == epochs


async def test_the_features_of_one_node_are_asked_of_that_node(quorum: Cluster) -> None:
    async with AdminClient(bootstrap_controllers=quorum.bootstrap_controllers, timeout=60) as admin:
        for node_id in quorum.controllers:
            assert (
                "kraft.version"
                in (await admin.describe_features(node_id=node_id)).supported_features
            )
        with pytest.raises(NodeNotFound, match="no controller 1, only 3000, 3001, 3002"):
            await admin.describe_features(node_id=1)


async def test_kafka_3_9_1_has_its_own_levels(kafka391: Cluster) -> None:
    async with AdminClient(
        bootstrap_controllers=kafka391.bootstrap_controllers, timeout=60
    ) as admin:
        features = await admin.describe_features()
    assert features.finalized_features["metadata.version"].max_version == 21
    assert features.supported_features["kraft.version"].max_version == 1
