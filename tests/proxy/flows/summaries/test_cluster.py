"""Summaries of ApiVersions, cluster descriptions and in-sync replicas, in one line."""

from uuid import UUID

import pytest

from kwire.codec.declaration import Request, Response
from kwire.messages import a56_alter_partition as alter
from kwire.messages.a18_api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
)
from kwire.messages.a60_describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from kwire.proxy import summarize
from tests.support.proxy.flows.dialogue_flows import rpc

TOPIC = UUID(int=99)


ISR = alter.AlterPartitionRequest(
    broker_id=1,
    topics=[
        alter.TopicData(
            topic_id=TOPIC,
            partitions=[
                alter.PartitionData(
                    partition_index=3,
                    new_isr_with_epochs=[
                        alter.BrokerState(broker_id=1),
                        alter.BrokerState(broker_id=2),
                    ],
                    partition_epoch=9,
                )
            ],
        )
    ],
)


ISR_NOW = alter.AlterPartitionResponse(
    topics=[
        alter.ResponseTopicData(
            partitions=[alter.ResponsePartitionData(leader_id=1, leader_epoch=4, isr=(1, 2))]
        )
    ]
)


LINES: list[tuple[Request, Response, int, str]] = [
    (
        ISR,
        ISR_NOW,
        3,
        "broker 1 wants AAAAAAAAAAAAAAAAAAAAYw-3 ISR 1,2 at partition epoch 9:"
        " ISR 1,2, leader 1 epoch 4",
    ),
    (
        ApiVersionsRequest(client_software_name="kwire", client_software_version="0.1"),
        ApiVersionsResponse(
            api_keys=[ApiVersion(), ApiVersion()],
            finalized_features=[FinalizedFeatureKey(name="kraft.version", max_version_level=1)],
        ),
        4,
        "kwire 0.1: 2 APIs, kraft.version 1",
    ),
    (
        ApiVersionsRequest(),
        ApiVersionsResponse(api_keys=[ApiVersion()], zk_migration_ready=True),
        3,
        "which APIs?: 1 API, ready to migrate from ZooKeeper",
    ),
    (
        ApiVersionsRequest(
            client_software_name="apache-kafka-java",
            client_software_version="4.4.0",
            cluster_id="abc",
            node_id=7,
        ),
        ApiVersionsResponse(error_code=129),
        5,
        "apache-kafka-java 4.4.0, to node 7 of cluster abc: REBOOTSTRAP_REQUIRED, 0 APIs",
    ),
    (
        DescribeClusterRequest(endpoint_type=2),
        DescribeClusterResponse(
            cluster_id="abc",
            controller_id=3000,
            brokers=[DescribeClusterBroker(broker_id=3000, host="c", port=9093)],
        ),
        1,
        "cluster abc, 1 controller 3000 c:9093, active controller 3000",
    ),
    (
        DescribeClusterRequest(endpoint_type=1),
        DescribeClusterResponse(error_code=115, error_message="a controller"),
        1,
        "which brokers?: UNSUPPORTED_ENDPOINT_TYPE (a controller)",
    ),
]


@pytest.mark.parametrize(("request_", "response", "version", "line"), LINES)
def test_a_flow_is_told_in_one_line(
    request_: Request, response: Response, version: int, line: str
) -> None:
    assert summarize(rpc(request_, response, version)) == line
