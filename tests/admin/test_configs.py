"""Configuration: each resource asked of its node, what is secret and what is default told apart."""

from collections.abc import Iterable

import pytest

from kwire.admin import AdminClient
from kwire.admin.configs import AlterConfigOperation, ConfigChange
from kwire.admin.errors import NodeNotFound
from kwire.errors import BrokerError, UnsupportedVersion
from kwire.messages import a32_describe_configs as described
from kwire.messages import a44_incremental_alter_configs as altered
from kwire.messages import a74_list_config_resources as listed
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.config_resource import ConfigResource, ConfigSource, ConfigType, ResourceType
from kwire.net.frames import RequestFrame
from scripted_node import ScriptedNode, api_versions
from scripted_quorum import ScriptedQuorum, scripted_quorum

TOPIC = ConfigResource(ResourceType.TOPIC, "orders")
NODES = [ConfigResource(ResourceType.BROKER, str(node_id)) for node_id in range(3)]
EVERY_BROKER = ConfigResource(ResourceType.BROKER, "")


def client(quorum: ScriptedQuorum, kind: str = "bootstrap_controllers") -> AdminClient:
    if kind == "bootstrap_servers":
        return AdminClient(bootstrap_servers=quorum.addresses(), timeout=60)
    return AdminClient(bootstrap_controllers=quorum.addresses(), timeout=60)


def described_by(quorum: ScriptedQuorum, *configs: described.DescribeConfigsResourceResult) -> None:
    """Let every node describe each resource with these keys; it refuses types it does not know."""

    def script(request: RequestFrame) -> described.DescribeConfigsResponse:
        assert isinstance(request.body, described.DescribeConfigsRequest)
        resources = request.body.resources
        refused = any(resource.resource_type not in set(ResourceType) for resource in resources)
        results = [
            described.DescribeConfigsResult(
                error_code=42 if refused else 0,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
                configs=[] if refused else list(configs),
            )
            for resource in resources
        ]
        return described.DescribeConfigsResponse(results=results)

    for node in quorum.nodes:
        node.scripts[described.DescribeConfigsRequest] = script


def altered_by(quorum: ScriptedQuorum, codes: dict[ConfigResource, int]) -> None:
    def script(request: RequestFrame) -> altered.IncrementalAlterConfigsResponse:
        assert isinstance(request.body, altered.IncrementalAlterConfigsRequest)
        return altered.IncrementalAlterConfigsResponse(
            responses=[
                altered.AlterConfigsResourceResponse(
                    error_code=codes.get(ConfigResource(it.resource_type, it.resource_name), 0),
                    resource_type=it.resource_type,
                    resource_name=it.resource_name,
                )
                for it in request.body.resources
            ]
        )

    for node in quorum.nodes:
        node.scripts[altered.IncrementalAlterConfigsRequest] = script


def asked(nodes: Iterable[ScriptedNode]) -> list[set[tuple[int, str]]]:
    """Return the resources that each node was asked for."""
    return [
        {
            (resource.resource_type, resource.resource_name)
            for frame in node.asked
            if isinstance(
                frame.body,
                described.DescribeConfigsRequest | altered.IncrementalAlterConfigsRequest,
            )
            for resource in frame.body.resources
        }
        for node in nodes
    ]


@pytest.mark.parametrize("kind", ["bootstrap_controllers", "bootstrap_servers"])
async def test_each_node_is_asked_for_its_own_settings(kind: str) -> None:
    async with scripted_quorum(3) as three, client(three, kind) as admin:
        described_by(three)
        outcomes = await admin.describe_configs([*NODES, TOPIC])
        found = asked(three.nodes)
    assert outcomes.all().keys() == {*NODES, TOPIC}
    assert [{NODES[index]} == found[index] - {TOPIC} for index in range(3)] == [True] * 3


async def test_a_node_that_is_not_there_fails_alone() -> None:
    nowhere = ConfigResource(ResourceType.BROKER_LOGGER, "9")
    async with scripted_quorum(1) as quorum, client(quorum) as admin:
        described_by(quorum)
        outcomes = await admin.describe_configs([NODES[0], nowhere])
    assert list(outcomes) == [NODES[0]]
    assert isinstance(outcomes.failed[nowhere], NodeNotFound)


async def test_a_type_that_the_node_does_not_know_does_not_spoil_the_others() -> None:
    strange = ConfigResource(77, "x")
    async with scripted_quorum(1) as quorum, client(quorum) as admin:
        described_by(quorum)
        outcomes = await admin.describe_configs([TOPIC, strange, EVERY_BROKER])
    assert list(outcomes) == [TOPIC, EVERY_BROKER]
    assert isinstance(outcomes.failed[strange], BrokerError)


async def test_values_are_told_with_their_source_type_and_synonyms() -> None:
    wire = described.DescribeConfigsResourceResult
    synonym = described.DescribeConfigsSynonym
    async with scripted_quorum(1) as quorum, client(quorum) as admin:
        described_by(
            quorum,
            wire(
                name="retention.ms",
                value="5",
                config_source=1,
                config_type=5,
                synonyms=[
                    synonym(name="retention.ms", value="5", source=1),
                    synonym(name="log.retention.ms", value=None, source=99),
                ],
            ),
            wire(
                name="ssl.key.password",
                value=None,
                is_sensitive=True,
                config_source=4,
                config_type=9,
            ),
            wire(name="segment.ms", value="7", config_source=5, config_type=99, read_only=True),
        )
        outcome = await admin.describe_configs([TOPIC], synonyms=True, documentation=True)
        (request,) = quorum.nodes[0].requests(described.DescribeConfigsRequest)
    assert isinstance(request, described.DescribeConfigsRequest)
    assert (request.include_synonyms, request.include_documentation) == (True, True)
    retention, password, segment = outcome[TOPIC].values()
    assert (retention.value, retention.source, retention.type) == (
        "5",
        ConfigSource.TOPIC,
        ConfigType.LONG,
    )
    assert [(each.name, each.value, each.source) for each in retention.synonyms] == [
        ("retention.ms", "5", ConfigSource.TOPIC),
        ("log.retention.ms", None, 99),
    ]
    assert (password.value, password.is_sensitive, password.is_default) == (None, True, False)
    assert (segment.is_default, segment.is_read_only, segment.type) == (True, True, 99)


async def test_only_the_active_controller_can_change_the_settings_of_nodes() -> None:
    """But each node its own loggers, which are not in the metadata log."""
    logger = ConfigResource(ResourceType.BROKER_LOGGER, "2")
    change = [ConfigChange(name="a", value="b")]
    async with scripted_quorum(3) as three, client(three) as admin:
        three.active = 1
        altered_by(three, {})
        outcomes = await admin.incremental_alter_configs(
            {NODES[2]: change, EVERY_BROKER: change, TOPIC: change, logger: change}
        )
        found = asked(three.nodes)
    assert outcomes.all().keys() == {NODES[2], EVERY_BROKER, TOPIC, logger}
    assert found == [set(), {NODES[2], EVERY_BROKER, TOPIC}, {logger}]


async def test_a_broker_changes_its_own_settings() -> None:
    change = [ConfigChange(name="a", value="b")]
    async with scripted_quorum(3) as three, client(three, "bootstrap_servers") as admin:
        altered_by(three, {})
        await admin.incremental_alter_configs({NODES[1]: change, NODES[2]: change})
        assert asked(three.nodes) == [set(), {NODES[1]}, {NODES[2]}]


async def test_every_kind_of_change_is_sent_and_one_refused_resource_keeps_the_other() -> None:
    changes = [
        ConfigChange(name="a", value="1"),
        ConfigChange(name="b", operation=AlterConfigOperation.DELETE),
        ConfigChange(name="c", operation=AlterConfigOperation.APPEND, value="2,3"),
        ConfigChange(name="d", operation=AlterConfigOperation.SUBTRACT, value="4"),
    ]
    async with scripted_quorum(1) as quorum, client(quorum) as admin:
        altered_by(quorum, {EVERY_BROKER: 40})
        outcomes = await admin.incremental_alter_configs(
            {TOPIC: changes, EVERY_BROKER: changes}, validate_only=True
        )
        (request,) = quorum.nodes[0].requests(altered.IncrementalAlterConfigsRequest)
    assert isinstance(request, altered.IncrementalAlterConfigsRequest)
    assert request.validate_only
    assert [
        (config.name, config.config_operation, config.value)
        for config in request.resources[0].configs
    ] == [("a", 0, "1"), ("b", 1, None), ("c", 2, "2,3"), ("d", 3, "4")]
    assert list(outcomes) == [TOPIC]
    assert [str(error) for error in outcomes.failed.values()] == [
        "INVALID_CONFIG: a key of configuration cannot have this value, or does not exist"
    ]


async def test_before_kafka_4_1_client_metrics_alone_are_listed() -> None:
    def answer(request: RequestFrame) -> listed.ListConfigResourcesResponse:
        return listed.ListConfigResourcesResponse(
            config_resources=[listed.ConfigResource(resource_name="slow")]
        )

    async with scripted_quorum(1) as quorum, client(quorum, "bootstrap_servers") as admin:
        node = quorum.nodes[0]
        node.scripts[listed.ListConfigResourcesRequest] = answer
        scripts = tuple(node.scripts)
        node.scripts[ApiVersionsRequest] = lambda request: api_versions(
            *scripts, ListConfigResources=(0, 0)
        )
        metrics = await admin.list_config_resources([ResourceType.CLIENT_METRICS])
        assert metrics == (ConfigResource(ResourceType.CLIENT_METRICS, "slow"),)
        with pytest.raises(UnsupportedVersion, match=r"from Kafka 4\.1 on"):
            await admin.list_config_resources()
