"""The facts of formatted directories, for comparisons with Kafka's StorageTool."""

from pathlib import Path

from kwire.logdir.bootstrap import read_bootstrap
from kwire.logdir.meta_properties import read_meta_properties
from kwire.logdir.names import BOOTSTRAP_SNAPSHOT, METADATA_FOLDER
from kwire.logdir.snapshots import load_snapshot


def formatted_files(folder: Path) -> set[str]:
    """Return the files below a folder, but for server.properties."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)) for path in found} - {"server.properties"}


def formatted_facts(folder: Path) -> list[object]:
    """Return the files' contents, except times and random ids."""
    facts: list[object] = []
    for directory in sorted(path for path in folder.iterdir() if path.is_dir()):
        meta = read_meta_properties(directory)
        assert meta is not None
        assert meta.directory_id is not None
        facts += [(meta.cluster_id, meta.node_id, meta.version), read_bootstrap(directory)]
        if (directory / METADATA_FOLDER).exists():
            snapshot = load_snapshot(directory / METADATA_FOLDER, BOOTSTRAP_SNAPSHOT)
            assert snapshot.voters is not None
            voters = {voter.voter_id: voter.voter_directory_id for voter in snapshot.voters.voters}
            assert voters.get(meta.node_id or 0, meta.directory_id) == meta.directory_id
            facts += [snapshot.kraft_version, snapshot.records]
    return facts
