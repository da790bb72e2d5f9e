"""The checks of KIP-866 on servers that migrate, on which they demand less."""

from collections.abc import AsyncIterator
from functools import cache

import pytest

from kwire.conform.check import Check
from kwire.conform.registry import all_checks
from kwire.conform.result import CheckResult
from kwire.conform.run_check import run_check
from kwire.conform.target import examine_target
from kwire.conform.vocabulary import ConformanceVerdict as V
from kwire.conform.vocabulary import ServerRole
from kwire.messages.a18_api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
)
from kwire.messages.registry import api_key
from kwire.net.address import Address
from kwire.testing.quorum import Quorum
from scripted_node import ScriptedNode
from tests.support.eventually import eventually
from tests.support.migration.migrating_cluster import ZooKeeperBrokers

OLD = ("LeaderAndIsr", "StopReplica", "UpdateMetadata")


@pytest.fixture
async def cluster() -> AsyncIterator[ZooKeeperBrokers]:
    cluster = ZooKeeperBrokers(1)
    yield cluster
    await cluster.stop()


@cache
def checks() -> dict[str, Check]:
    return {check.id: check for check in all_checks()}


async def run_on(quorum: Quorum, check_id: str) -> CheckResult:
    leader = await quorum.active_controller()
    host, port = quorum.addresses[leader.node_id]
    target = await examine_target(Address(host, port), role=ServerRole.CONTROLLER)
    return await run_check(checks()[check_id], target)


async def test_a_controller_that_migrates_is_told_with_its_state(cluster: ZooKeeperBrokers) -> None:
    async with cluster.quorum() as quorum:
        waiting = await run_on(quorum, "migration/kip-866/1")
        assert (waiting.answer, waiting.reason) == (
            V.INFO,
            "it is ready to migrate, and the log is in state PRE_MIGRATION",
        )
        refused = await run_on(quorum, "registration/brokers/7")
        assert refused.answer is V.SKIPPED

        cluster.start_brokers(quorum)

        async def brokers() -> str:
            return (await run_on(quorum, "migration/kip-866/2")).reason

        await eventually(
            brokers,
            lambda reason: reason == "the log is in state MIGRATION, brokers that migrate: [1]",
        )


def versions(*names: str, is_ready: bool = False, level: int = 21) -> ScriptedNode:
    """Return a node that offers these APIs. level: of metadata.version."""
    keys = [
        ApiVersion(api_key=api_key(name), min_version=0, max_version=3)
        for name in ("ApiVersions", *names)
    ]
    feature = FinalizedFeatureKey(
        name="metadata.version", max_version_level=level, min_version_level=level
    )
    answer = ApiVersionsResponse(
        api_keys=keys,
        finalized_features=[feature],
        finalized_features_epoch=1,
        zk_migration_ready=is_ready,
    )
    return ScriptedNode({ApiVersionsRequest: lambda frame: answer})


@pytest.mark.parametrize(
    ("number", "node", "verdict"),
    [
        pytest.param(1, versions(is_ready=True, level=21), V.INFO, id="ready-in-3.9"),
        pytest.param(1, versions(is_ready=True, level=25), V.FAIL, id="ready-in-4.0"),
        pytest.param(1, versions(level=21), V.PASS, id="not-ready"),
        pytest.param(3, versions(*OLD), V.INFO, id="zookeeper-broker"),
        pytest.param(3, versions(*OLD, "DescribeQuorum"), V.FAIL, id="kraft-broker"),
        pytest.param(3, versions("LeaderAndIsr"), V.FAIL, id="one-of-them"),
        pytest.param(3, versions("DescribeQuorum"), V.PASS, id="none-of-them"),
    ],
)
async def test_a_broker_is_judged_by_what_it_runs_with(
    number: int, node: ScriptedNode, verdict: V
) -> None:
    async with node:
        target = await examine_target(Address.parse(node.address), role=ServerRole.BROKER)
        result = await run_check(checks()[f"migration/kip-866/{number}"], target)
    assert result.answer is verdict
