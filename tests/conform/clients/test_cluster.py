"""The cluster in memory, judged by the checks that Apache Kafka passes."""

import pytest

from kwire.conform.clients.cluster import Cluster
from kwire.conform.clients.node import ClientNodes
from kwire.conform.clients.play import Play
from kwire.conform.clients.script import Script
from kwire.conform.registry import all_checks
from kwire.conform.suite import SuiteOptions, run_suite
from kwire.conform.vocabulary import ConformanceVerdict

KEPT = """
versions/kip-511 1-12
versions/kip-584 1-9
records/produce 1 4 5 7-10 14 17-20 22 23
records/fetch 2-10 12 14-16
records/sessions 1-10
records/list-offsets 2 3 8 10-14
records/epochs 1 4 5
metadata/metadata 1-3 7 8 11 13-16
cluster/describe 1-3 5-7 9
cluster/find-coordinator 3-6
producers/ids 1 2 7-9 11 12 14
producers/sequences 1-14 16-18 20
transactions/partitions 1-6
transactions/ends 1-19
transactions/produce 1-5 8
transactions/offsets 1 3-6 8 9
groups/join 4-11
groups/members 2-5 8-11 14 17 18
groups/offsets 1-3 6 12-16 19 20
groups/kip-848 1 2 4 6-9 16-21 33 34
"""
"""Checks of all that the tasks need; a program of one member asks for nothing else."""


def _ids() -> dict[str, list[str]]:
    known = {check.id for check in all_checks()}
    ids: dict[str, list[str]] = {}
    for line in KEPT.split("\n")[1:-1]:
        section, *spans = line.split()
        for span in spans:
            first, _, last = span.partition("-")
            numbers = range(int(first), int(last or first) + 1)
            ids.setdefault(section, []).extend(
                name for n in numbers if (name := f"{section}/{n}") in known
            )
    return ids


@pytest.mark.parametrize("section", _ids())
async def test_the_cluster_answers_as_kafka(section: str) -> None:
    async with ClientNodes() as nodes:
        cluster = Cluster(addresses=dict(nodes.addresses))
        play = Play(cluster=cluster)
        nodes.begin(play, Script(cluster))
        address = nodes.addresses[1]
        run = await run_suite(address, SuiteOptions(ids=tuple(_ids()[section])))
    assert play.error is None
    fits = (
        ConformanceVerdict.PASS,
        ConformanceVerdict.INFO,
        ConformanceVerdict.SKIPPED,
        ConformanceVerdict.DIFFERS,
    )
    assert {result.id: result.came for result in run if result.verdict not in fits} == {}
    assert run.counts[ConformanceVerdict.PASS] > len(_ids()[section]) / 2
