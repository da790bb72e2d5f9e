"""A Kafka with other settings than the default ones is as good a Kafka: no check fails it."""

import asyncio
from dataclasses import replace

import pytest

from conformance.results import expectations_of
from kwire.conform import ConformanceVerdict, SuiteOptions, run_suite
from kwire.conform.vocabulary import ServerRole
from kwire.net.address import Address
from real_kafka import Layout
from tests.support.real_kafka.own_cluster import OwnCluster

TOPICS = {
    "log.cleanup.policy": "compact",
    "log.message.timestamp.type": "LogAppendTime",
    "log.message.timestamp.before.max.ms": "3600000",
    "min.insync.replicas": "2",
    "compression.type": "gzip",
}
LIMITS = {
    "group.min.session.timeout.ms": "1",
    "group.max.session.timeout.ms": "2147483647",
    "group.max.size": "1",
    "group.consumer.max.size": "1",
    "transaction.max.timeout.ms": "2147483647",
    "transaction.partition.verification.enable": "false",
    "socket.request.max.bytes": "1000000",
    "max.request.partition.size.limit": "1",
}


@pytest.mark.nightly
@pytest.mark.parametrize("settings", [TOPICS, LIMITS], ids=["topics", "limits"])
def test_no_check_fails_a_fresh_broker_for_its_settings(
    own_cluster: OwnCluster, settings: dict[str, str]
) -> None:
    layout = replace(Layout.combined(), properties=settings)
    with own_cluster(layout) as cluster:
        address = Address.parse(cluster.bootstrap_servers)
        run = asyncio.run(run_suite(address, SuiteOptions(role=ServerRole.BROKER)))
    bad = {result.id for result in run if result.verdict.is_bad}
    assert bad <= set(expectations_of("kafka-4.3.1-broker").verdicts)
    assert run.counts[ConformanceVerdict.PASS] > 600
    assert not any(result.left_behind for result in run)
