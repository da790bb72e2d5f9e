"""`kwire cluster`, `brokers`, `api-versions`: nodes as Kafka's tools list them, and no mishaps."""

from collections.abc import Iterator
from typing import cast

import pytest

from kwire.codec.declaration import Response
from kwire.messages import a03_metadata as metadata
from kwire.messages import a60_describe_cluster as describing
from kwire.messages import a64_unregister_broker as unregistering
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.net.frames import RequestFrame
from scripted_node import api_versions
from tests.support.admin.scripted_brokers import ScriptedBrokers
from tests.support.cli.command import Command
from tests.support.cli.scripted_cluster import at, scripted_cluster

FENCED = 5


def forgotten(request: RequestFrame) -> Response:
    """Forget the fenced broker, and know no other."""
    broker_id = cast(unregistering.UnregisterBrokerRequest, request.body).broker_id
    code, message = (0, None) if broker_id == FENCED else (102, "never heard of it")
    return unregistering.UnregisterBrokerResponse(error_code=code, error_message=message)


@pytest.fixture
def cluster() -> Iterator[ScriptedBrokers]:
    """Broker 0 runs, broker 5 is fenced."""
    with scripted_cluster() as brokers:
        [node] = brokers.nodes

        def described(request: RequestFrame) -> Response:
            body = cast(describing.DescribeClusterRequest, request.body)
            nodes = [
                describing.DescribeClusterBroker(broker_id=0, host="127.0.0.1", port=node.port)
            ]
            if body.include_fenced_brokers:
                gone = describing.DescribeClusterBroker(
                    broker_id=FENCED, host="gone", port=9092, rack="r", is_fenced=True
                )
                nodes.append(gone)
            return describing.DescribeClusterResponse(cluster_id="scripted", brokers=nodes)

        node.scripts[describing.DescribeClusterRequest] = described
        node.scripts[unregistering.UnregisterBrokerRequest] = forgotten
        yield brokers


def make_old(cluster: ScriptedBrokers) -> None:
    """Let the broker be one of Kafka 3.9, which lists no fenced brokers."""
    scripts = cluster.nodes[0].scripts
    offered = api_versions(*scripts, DescribeCluster=(0, 1))
    scripts[ApiVersionsRequest] = lambda request: offered


def test_the_cluster_id_is_printed_as_kafkas_tool_does(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    assert kwire("cluster", "id", *at(cluster)).out == "Cluster ID: scripted\n"
    assert kwire("cluster", "id", "--json", *at(cluster)).json == {"clusterId": "scripted"}


def test_endpoints_have_kafkas_columns(kwire: Command, cluster: ScriptedBrokers) -> None:
    port = str(cluster.nodes[0].port)
    run = kwire("cluster", "endpoints", "--fenced", *at(cluster))
    assert [line.split() for line in run.out.splitlines()] == [
        ["Id", "Host", "Port", "Rack", "State", "EndpointType"],
        ["0", "127.0.0.1", port, "-", "unfenced", "broker"],
        ["5", "gone", "9092", "r", "fenced", "broker"],
    ]
    assert len(kwire("cluster", "endpoints", "--json", *at(cluster)).json["endpoints"]) == 1


def test_an_old_broker_is_not_believed_to_list_fenced_ones(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    make_old(cluster)
    assert (
        "is older than Kafka 4.0" in kwire("cluster", "endpoints", "--fenced", *at(cluster)).error
    )
    run = kwire("brokers", "list", "--json", *at(cluster))
    assert [row["id"] for row in run.json["brokers"]] == [0]
    assert "lists no fenced brokers" in run.err


def test_every_registered_broker_is_listed(kwire: Command, cluster: ScriptedBrokers) -> None:
    rows = kwire("brokers", "list", "--json", *at(cluster)).json["brokers"]
    assert [(row["id"], row["state"]) for row in rows] == [(0, "unfenced"), (5, "fenced")]


def test_a_broker_that_runs_is_not_unregistered(kwire: Command, cluster: ScriptedBrokers) -> None:
    unregister = ("brokers", "unregister", "5", "--id", "0", "--yes", "--json", *at(cluster))
    refused = kwire(*unregister)
    assert (refused.code, "broker 0 is not fenced" in refused.error) == (1, True)
    assert not cluster.nodes[0].requests(unregistering.UnregisterBrokerRequest)
    forced = kwire(*unregister, "--force")
    assert [(row["id"], row["error"]) for row in forced.json["brokers"]] == [
        (5, None),
        (0, "BROKER_ID_NOT_REGISTERED"),
    ]
    assert forced.code == 1


def test_a_broker_that_partitions_list_is_not_unregistered(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    [node] = cluster.nodes
    partition = metadata.MetadataResponsePartition(leader_id=0, replica_nodes=(0, FENCED))
    topic = metadata.MetadataResponseTopic(name="orders", partitions=[partition])
    answer = metadata.MetadataResponse(topics=[topic])
    node.scripts[metadata.MetadataRequest] = lambda request: answer
    unregister = ("brokers", "unregister", str(FENCED), *at(cluster))
    for last in ("--yes", "--dry-run"):
        assert kwire(*unregister, last).error == (
            "broker 5 is a replica of 1 partition: kwire partitions reassign plan --drain 5 first,"
            " or give --force. Nothing was changed."
        )
    assert not node.requests(unregistering.UnregisterBrokerRequest)
    assert kwire(*unregister, "--yes", "--force", "-o", "tsv").out == "5\tunregistered\t-\t-\n"


def test_a_broker_that_runs_is_known_by_an_old_broker_too(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    make_old(cluster)
    assert kwire("brokers", "unregister", "0", "--yes", *at(cluster)).code == 1
    assert kwire("brokers", "unregister", "5", "--yes", *at(cluster)).code == 0


def test_a_dry_run_only_looks(kwire: Command, cluster: ScriptedBrokers) -> None:
    run = kwire("brokers", "unregister", "5", "9", "--dry-run", "--json", *at(cluster))
    assert run.json["dryRun"] is True
    assert [row["error"] for row in run.json["brokers"]] == [None, "BROKER_ID_NOT_REGISTERED"]
    assert not cluster.nodes[0].requests(unregistering.UnregisterBrokerRequest)


def test_a_question_that_nobody_can_answer_is_no_yes(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    run = kwire("brokers", "unregister", "5", *at(cluster))
    assert (run.code, run.error) == (
        2,
        "Unregister broker 5? Not a terminal: confirm with --yes.",
    )


def test_apis_are_listed_with_the_nodes_that_offer_them(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    scripts = cluster.nodes[0].scripts
    offered = api_versions(ApiVersionsRequest, *scripts, UnregisterBroker=(0, 7), Fetch=(99, 100))
    offered.api_keys[-1].api_key = 9999
    scripts[ApiVersionsRequest] = lambda request: offered
    run = kwire("api-versions", "--node", "0", "--node", "8", "--json", *at(cluster))
    *_, unregister, unknown, missing = run.json["apiVersions"]
    assert run.code == 1
    assert (unregister["api"], unregister["maxVersion"], unregister["usable"]) == (
        "UnregisterBroker",
        7,
        0,
    )
    assert (unknown["api"], unknown["usable"], unknown["nodes"]) == ("API 9999", None, [0])
    assert (missing["nodes"], missing["error"]) == ([8], "NODE_NOT_FOUND")
