"""Every operation at a broker, the active controller and another one, on each release of Kafka.

The table docs/reference/admin-matrix.md is what this run finds; set KWIRE_WRITE=1 to write it anew.
"""

import os
from collections.abc import Iterator

import pytest

from kwire.admin import AdminClient
from kwire.admin.registry import OPERATIONS
from kwire.admin.topics import NewTopic
from real_kafka import Cluster, Layout, free_port
from tests.support.admin.operation_cases import CASES, Surroundings, outcome
from tests.support.eventually import eventually
from tests.support.paths import ROOT
from tests.support.real_kafka.own_cluster import OwnCluster

PAGE = ROOT / "docs" / "reference" / "admin-matrix.md"
TARGETS = ("broker", "active controller", "other controller")
VERSIONS = ("4.4.0", "4.3.1", "3.9.1")
TIMEOUT = 15.0

pytestmark = pytest.mark.timeout(900)


def test_every_operation_has_a_case() -> None:
    assert set(CASES) == {row.name for row in OPERATIONS}


@pytest.mark.nightly
@pytest.mark.parametrize("version", VERSIONS)
async def test_operations_have_the_outcomes_of_the_page(
    own_cluster: OwnCluster, version: str
) -> None:
    layout = Layout(
        controllers=(3000, 3001),
        brokers=(1,),
        version=version,
        properties={
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS",
        },
    )
    with own_cluster(layout) as cluster:
        found = {
            target: await outcomes(cluster, target, index) for index, target in enumerate(TARGETS)
        }
    rows = {name: [found[target][name] for target in TARGETS] for name in CASES}
    if os.environ.get("KWIRE_WRITE"):
        write(version, rows)
    assert rows == written(version)


async def outcomes(cluster: Cluster, target: str, index: int) -> dict[str, str]:
    """Return the outcome of every operation at one kind of node."""
    async with AdminClient(cluster.bootstrap_servers, timeout=TIMEOUT) as admin:
        if index == 0:
            await eventually(lambda: create(admin), lambda created: created)
        leader = (await admin.describe_metadata_quorum()).leader_id
    (other,) = set(cluster.controllers) - {leader}
    controllers = cluster.controllers
    addresses = {
        "broker": (str(cluster.bootstrap_servers), None),
        "active controller": (None, str(controllers[leader].controller_address)),
        "other controller": (None, str(controllers[other].controller_address)),
    }
    node_id = {"broker": 1, "active controller": leader, "other controller": other}[target]
    at = Surroundings(name=f"target-{index}", node_id=node_id, broker_id=1, closed_port=free_port())
    servers, bootstrap = addresses[target]
    async with AdminClient(
        servers, bootstrap, timeout=TIMEOUT, request_timeout=TIMEOUT / 2, allow_unlisted=True
    ) as admin:
        return {name: await outcome(case, admin, at) for name, case in CASES.items()}


async def create(admin: AdminClient) -> bool:
    """Create the topic that all calls find; False if the cluster is not ready for it."""
    outcomes = await admin.create_topics([NewTopic(name="given", partitions=1)])
    return "given" in outcomes


def written(version: str) -> dict[str, list[str]]:
    """Return the outcomes in the page by operation."""
    column = 1 + VERSIONS.index(version) * len(TARGETS)
    return {cells[0].strip("`"): cells[column : column + len(TARGETS)] for cells in table_rows()}


def table_rows() -> Iterator[list[str]]:
    for line in PAGE.read_text().splitlines():
        if line.startswith("| `"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def write(version: str, rows: dict[str, list[str]]) -> None:
    """Put the outcomes of one release into the page; the others stay."""
    width = len(VERSIONS) * len(TARGETS)
    known = {cells[0].strip("`"): cells[1:] for cells in table_rows()}
    column = VERSIONS.index(version) * len(TARGETS)
    lines = []
    for row in OPERATIONS:
        cells = known.get(row.name, ["not run"] * width)
        cells[column : column + len(TARGETS)] = rows.get(row.name, ["not run"] * len(TARGETS))
        lines.append(f"| `{row.name}` | {' | '.join(cells)} |")
    head = PAGE.read_text().split("| `")[0]
    PAGE.write_text(head + "\n".join(lines) + "\n")
