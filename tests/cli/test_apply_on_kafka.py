"""`kwire apply` on real Kafka: killed in the middle, twice at once, back after a deletion."""

from __future__ import annotations

import asyncio
import hashlib
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from kwire.admin.acls import AclFilter
from kwire.admin.configs import AlterConfigOperation, ConfigChange
from kwire.admin.quotas import QuotaEntity
from kwire.admin.scram import ScramDeletion, ScramMechanism
from kwire.admin.sync import AdminClient
from kwire.messages.config_resource import ConfigResource, ResourceType
from kwire.net.connection import Connection
from kwire.net.sasl import Credentials, Mechanism
from real_kafka import Cluster
from tests.support.cli.command import KWIRE, Command
from tests.support.proxy.secure_cluster import PLAIN_PASSWORD, SecureCluster
from tests.support.real_kafka.own_names import OwnNames

PASSWORD = "a-password-of-nobody"
SALT = b"a salt of kwire's tests"
MANY = 3000
"""Quotas, enough for a dozen batches: a kill after the first one comes before the last."""


@pytest.fixture
def wanted(secure: SecureCluster, own_name: OwnNames, tmp_path: Path) -> Iterator[Path]:
    """A document of topics, quotas, a user and a right of the test's own."""
    cluster = secure.cluster
    user = own_name("applied")
    topics = [f"{user}-orders", f"{user}-payments"]
    ids = [f"{user}-{number}" for number in range(MANY)]
    document = _document(user, topics, ids)
    file = tmp_path / "wanted.yaml"
    file.write_text(yaml.safe_dump(document))
    yield file
    with AdminClient(bootstrap_controllers=cluster.bootstrap_controllers, allow_unlisted=True) as a:
        a.delete_topics(topics)
        a.delete_acls([AclFilter(principal=f"User:{user}")])
        a.alter_client_quotas(
            {QuotaEntity.of(client_id=id): {"producer_byte_rate": None} for id in ids}
        )
        a.incremental_alter_configs(
            {
                ConfigResource(type, name): [
                    ConfigChange(name=key, operation=AlterConfigOperation.DELETE)
                ]
                for type, name, key in (
                    (ResourceType.BROKER, "", "background.threads"),
                    (ResourceType.BROKER, "1", "log.cleaner.threads"),
                    (ResourceType.GROUP, user, "consumer.session.timeout.ms"),
                )
            }
        )
        a.alter_user_scram_credentials(
            [ScramDeletion(user=user, mechanism=ScramMechanism.SCRAM_SHA_512)]
        )


def _document(user: str, topics: list[str], client_ids: list[str]) -> dict[str, object]:
    salted = hashlib.pbkdf2_hmac("sha512", PASSWORD.encode(), SALT, 8192)
    orders, payments = topics
    return {
        "version": 1,
        "topics": [
            {
                "name": orders,
                "partitions": 3,
                "replicationFactor": 1,
                "configs": {"retention.ms": "60000", "cleanup.policy": "compact"},
            },
            {"name": payments, "partitions": 1, "assignments": [[1]]},
        ],
        "configs": [
            {"type": "brokers", "name": None, "configs": {"background.threads": "9"}},
            {"type": "brokers", "name": "1", "configs": {"log.cleaner.threads": "2"}},
            {"type": "groups", "name": user, "configs": {"consumer.session.timeout.ms": "50000"}},
        ],
        "quotas": [
            {"entity": {"client-id": id}, "quotas": {"producer_byte_rate": 1e6}}
            for id in client_ids
        ],
        "scramCredentials": [
            {
                "user": user,
                "mechanism": "SCRAM-SHA-512",
                "iterations": 8192,
                "salt": b64encode(SALT).decode(),
                "saltedPassword": b64encode(salted).decode(),
            }
        ],
        "acls": [
            {
                "principal": f"User:{user}",
                "permission": "ALLOW",
                "operation": "READ",
                "resourceType": "TOPIC",
                "resourceName": orders,
                "patternType": "LITERAL",
                "host": "*",
            }
        ],
    }


def _at(cluster: Cluster) -> tuple[str, ...]:
    return ("--bootstrap-controller", cluster.bootstrap_controllers, "--allow-unlisted")


def _started(file: Path, cluster: Cluster) -> subprocess.Popen[str]:
    command = [str(KWIRE), "apply", str(file), "--yes", "--json", *_at(cluster)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


async def _log_in(secure: SecureCluster, user: str) -> None:
    """Log in by the password. Raises BrokerError if the broker does not take it."""
    login = Credentials(mechanism=Mechanism.SCRAM_SHA_512, username=user, password=PASSWORD)
    async with await Connection.open("127.0.0.1", secure.behind["DIRECT_SASL"], sasl=login):
        pass


def test_a_document_comes_to_a_cluster_whatever_interrupts_it(
    secure: SecureCluster, wanted: Path, kwire: Command, tmp_path: Path
) -> None:
    cluster = secure.cluster
    document = yaml.safe_load(wanted.read_text())
    orders, payments = (topic["name"] for topic in document["topics"])
    # Killed after its first batch, it has done a part; a second call does the rest.
    killed = _started(wanted, cluster)
    assert killed.stderr is not None
    assert "changes tried, kwire topics create" in killed.stderr.readline()
    killed.kill()
    killed.communicate()
    planned = kwire("apply", str(wanted), "--plan", "--json", *_at(cluster))
    assert planned.code == 1
    rest = [change for change in planned.json["changes"] if change["state"] == "planned"]
    assert 0 < len(rest) < MANY + 7
    assert not [change for change in rest if change["section"] == "topics"]

    # Two at once do no harm.
    both = [_started(wanted, cluster) for _ in range(2)]
    ended = [(process.communicate()[0], process.returncode) for process in both]
    assert [code for _, code in ended] == [0, 0], ended
    again = kwire("apply", str(wanted), "--yes", *_at(cluster))
    assert again.code == 0, again.err
    assert again.out.splitlines()[0] == "nothing to change: the cluster has all of the document"

    # Kafka lets the user in by the password, and its tool tells the configuration.
    user = document["scramCredentials"][0]["user"]
    asyncio.run(_log_in(secure, user))
    tool = cluster.tool(
        "org.apache.kafka.tools.AclCommand",
        *("--bootstrap-controller", cluster.bootstrap_controllers, "--list"),
    )
    assert f"principal=User:{user}, host=*, operation=READ, permissionType=ALLOW" in tool.stdout

    # Exported, deleted, and back by way of a broker; what was not deleted is not done again.
    export = ("export", "--bootstrap-controller", cluster.bootstrap_controllers)
    before, after = tmp_path / "before.yaml", tmp_path / "after.yaml"
    before.write_text(kwire(*export).out)
    assert kwire("topics", "delete", orders, payments, "--yes", *_at(cluster)).code == 0
    alice = secure.client_properties(tmp_path / "alice", "PLAIN", "alice", PLAIN_PASSWORD)
    brokers = ("--bootstrap-server", secure.node("DIRECT_SASL"), "--command-config", str(alice))
    applied = kwire("apply", str(before), "--yes", "--json", *brokers)
    assert applied.code == 0, applied.err
    assert [(c["name"], c["state"]) for c in applied.json["changes"]] == [
        (orders, "applied"),
        (payments, "applied"),
    ]
    after.write_text(kwire(*export).out)
    assert kwire("diff", str(before), str(after), "--ignore-ids").code == 0
    assert kwire("apply", str(before), "--plan", *brokers).code == 0
