"""Nodes are formatted by kwire with the files of Kafka's StorageTool, or by StorageTool itself."""

from dataclasses import replace
from pathlib import Path

import pytest

from kwire.testing.local_kafka.class_data import tool_options
from kwire.testing.local_kafka.formatting import RELEASES, try_format
from kwire.testing.local_kafka.local_site import run_tool
from kwire.testing.local_kafka.node import KafkaNode, KafkaVoter, KnownQuorum, NodeListener
from real_kafka import VERSIONS, Address, class_path, java
from tests.support.logdir.formatted import formatted_facts, formatted_files

DIRECTORIES = ("Bv7kHOxIQUasdhaFKhy_kw", "E_uo0656QxuLJQrAhA1qAQ")
VOTERS = tuple(
    KafkaVoter(node_id=node_id, directory_id=directory, address=Address("127.0.0.1", 29_000))
    for node_id, directory in zip((1, 2), DIRECTORIES, strict=True)
)
BOTH = KnownQuorum(cluster_id="4L6g3nShT-eMCtK--X86sw", voters=VOTERS)
ALONE = replace(BOTH, voters=VOTERS[:1])


def node(quorum: KnownQuorum, *roles: str, node_id: int = 1) -> KafkaNode:
    """A node with a listener for its first role."""
    name = "CONTROLLER" if "controller" in roles else "PLAINTEXT"
    address = Address("127.0.0.1", 29_000 + node_id)
    listener = NodeListener(name=name, listens=address, advertised=address, reached=address)
    return KafkaNode(
        node_id=node_id, roles=roles, listeners=(listener,), quorum=quorum, folder="to be set"
    )


NODES = {
    "a controller of two": node(BOTH, "controller"),
    "the only controller": node(ALONE, "controller"),
    "a controller that joins": node(BOTH, "controller", node_id=3),
    "a static voter": node(replace(BOTH, static=True), "controller"),
    "a broker": node(BOTH, "broker", node_id=7),
}


def by_storage_tool(node: KafkaNode, version: str) -> None:
    """Format a node as Kafka's own scripts do."""
    folder = Path(node.folder)
    (folder / "server.properties").write_text(node.server_properties())
    jars = class_path(version)
    options = tool_options(java(), version, jars)
    path = ":".join(map(str, jars))
    done = run_tool(str(java()), path, node.format_arguments(), 60, folder, options=options)
    assert done.returncode == 0, done.stderr


@pytest.mark.java
@pytest.mark.parametrize("version", [version for version in VERSIONS if version[:3] in RELEASES])
@pytest.mark.parametrize("name", NODES)
def test_the_files_are_those_of_storage_tool(name: str, version: str, tmp_path: Path) -> None:
    ours, theirs = (replace(NODES[name], folder=str(tmp_path / by)) for by in ("ours", "theirs"))
    for made in (ours, theirs):
        Path(made.folder).mkdir()
    assert try_format(ours, version)
    by_storage_tool(theirs, version)
    assert formatted_files(Path(ours.folder)) == formatted_files(Path(theirs.folder))
    assert formatted_facts(Path(ours.folder)) == formatted_facts(Path(theirs.folder))


def test_a_release_whose_files_are_others_is_left_to_storage_tool(tmp_path: Path) -> None:
    assert not try_format(replace(NODES["a broker"], folder=str(tmp_path)), "4.4.0")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("folder", ["/dev/null/nowhere", ""])
def test_what_kwire_cannot_format_is_left_to_the_words_of_storage_tool(folder: str) -> None:
    properties = {} if folder else {"node.id": "one"}
    made = replace(NODES["a broker"], folder=folder, properties=properties)
    assert not try_format(made, "4.3.1")
