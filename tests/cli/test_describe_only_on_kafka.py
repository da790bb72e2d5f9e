"""Commands of a principal that may DESCRIBE the cluster and not ALTER it, at a real controller.

Kafka's controllers want ALTER for DescribeCluster, and DESCRIBE for DescribeQuorum.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kwire.admin.acls import AclBinding, AclFilter
from kwire.admin.sync import AdminClient
from kwire.messages.access_control import AclOperation, AclResourceType
from tests.support.cli.command import Command
from tests.support.eventually import eventually_blocking
from tests.support.proxy.secure_cluster import PASSWORD, USER, SecureCluster

LISTENER = "CONTROLLER_SASL"


@pytest.fixture
def at(secure: SecureCluster, kwire: Command, tmp_path: Path) -> Iterator[list[str]]:
    """The options with which USER, who is no super user, asks the controller."""
    path = tmp_path / "client.properties"
    secure.client_properties(path, "SCRAM-SHA-512", USER, PASSWORD)
    options = ["--bootstrap-controller", secure.node(LISTENER), "--command-config", str(path)]
    # Without any ACL of the cluster all would be allowed.
    right = AclBinding(
        resource_type=AclResourceType.CLUSTER,
        resource_name="kafka-cluster",
        principal=f"User:{USER}",
        operation=AclOperation.DESCRIBE,
    )
    with AdminClient(bootstrap_controllers=secure.cluster.bootstrap_controllers) as admin:
        assert admin.create_acls([right])[right] is None
        try:
            eventually_blocking(
                lambda: kwire("request", "DescribeCluster", *options),
                lambda run: "CLUSTER_AUTHORIZATION_FAILED" in run.err,
            )
            yield options
        finally:
            admin.delete_acls([AclFilter(principal=right.principal)])


def test_the_leader_describes_the_quorum_instead(
    secure: SecureCluster, kwire: Command, at: list[str]
) -> None:
    status = kwire("quorum", "status", "--json", *at)
    assert status.code == 0
    assert (status.json["clusterId"], status.json["leaderId"]) == (None, 1)
    told = kwire("quorum", "status", *at)
    assert told.out.splitlines()[0].split() == ["ClusterId:", "unknown"]
    assert kwire("quorum", "replication", *at).code == 0
    assert kwire("quorum", "check", *at).code == 0

    unknown = kwire("cluster", "id", *at)
    assert unknown.code == 1
    assert unknown.error.startswith("the cluster id is unknown: controllers tell it from Kafka 3.7")
    endpoints = kwire("cluster", "endpoints", "--json", *at)
    assert endpoints.code == 0
    assert [(node["id"], node["port"]) for node in endpoints.json["endpoints"]] == [
        (1, secure.behind[LISTENER])
    ]
    assert "these are the voters as their leader knows them" in endpoints.err
    described = kwire("cluster", "describe", "--json", *at)
    assert (described.json["clusterId"], described.json["activeController"]) == (None, 1)

    # What it may not do is refused by its name, and needs no other right first.
    absent = kwire("quorum", "add-controller", "9", *at)
    assert (absent.code, "controller 9 does not follow the quorum" in absent.error) == (1, True)
    log = kwire("topics", "list", *at)
    assert (log.code, "CLUSTER_AUTHORIZATION_FAILED" in log.error) == (1, True)
