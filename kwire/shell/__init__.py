"""Metadata as folders: a tree of values to walk, as in Kafka's MetadataShell (KIP-919).

with DirectorySource(Path("/var/lib/kafka/__cluster_metadata-0")) as source:
    shell = Shell(source, print)
    shell.run(["ls", "/image/topics/byName"])

The tree is made of a `MetadataImage` and computes only the nodes that are asked for.
"""

from kwire.shell.files import DirectorySource, SingleFileSource
from kwire.shell.shell import Shell

__all__ = ["DirectorySource", "Shell", "SingleFileSource"]
