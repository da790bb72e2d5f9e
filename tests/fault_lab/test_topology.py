"""Topology files: what is wrong with one is said with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from kwire.errors import InvalidValue
from kwire.fault_lab.topology import read_topology
from kwire.net.address import Address
from tests.support.paths import ROOT

ONE = '{id: 3000, role: controller, advertised: "h:1", listens: "h:2"}'


def written(folder: Path, text: str) -> Path:
    path = folder / "cluster.yaml"
    path.write_text(text)
    return path


def test_the_page_s_example_is_read(tmp_path: Path) -> None:
    page = (ROOT / "docs/engineers/faults.md").read_text()
    start = page.index("    # cluster.yaml")
    lines = page[start : page.index("\n\n", start)].splitlines()
    topology = read_topology(written(tmp_path, "\n".join(line[4:] for line in lines)))
    assert topology.controllers == (3000, 3001, 3002)
    assert topology.brokers == (1,)
    front = topology.advertised(3001, controller=True)
    assert front == Address("localhost", 29094)
    assert topology.upstream_of(front) == Address("localhost", 19094)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nodes: this key is needed"),
        ("nodes: []", "needs the controllers"),
        (f"nodes: [{ONE.replace('h:1', 'h')}]", "'h' is no address"),
        (f"nodes: [{ONE.replace('controller', 'voter')}]", "role is broker or controller"),
        (f"nodes: [{ONE}, {ONE}]", "advertise the same address"),
        (f"nodes: [{ONE}]\nports: 3", "ports: there is no such key here"),
        ("nodes: [", "this is no YAML"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InvalidValue, match=said):
        read_topology(written(tmp_path, text))
