"""The steps of the comparison by FeatureCommand: command lines, phase by phase of a cluster."""

from __future__ import annotations

from collections.abc import Iterator

SERVERS, CONTROLLERS = "--bootstrap-server", "--bootstrap-controller"

Line = tuple[str, str]
"""The option for who is asked, and the words."""


def mixed() -> Iterator[Line]:
    """With a broker of an older release and one of 4.4.0, at metadata.version 3.9-IV0."""
    yield from _offline()
    yield CONTROLLERS, "describe"
    for place in (SERVERS, CONTROLLERS):
        for words in (
            "upgrade --release-version 4.4",
            "upgrade --metadata 4.4-IV0",
            "upgrade --feature metadata.version=33 --dry-run",
            "upgrade --feature metadata.version=99",
            "upgrade --feature share.version=2",
            "upgrade --feature kraft.version=2",
            "upgrade --feature kraft.version=1 --dry-run",
            "upgrade --feature nonsense=1",
            "downgrade --feature metadata.version=6",
            "disable --feature nonsense",
        ):
            yield place, words
    # raft's own level, alone and again
    yield SERVERS, "upgrade --feature kraft.version=1"
    yield CONTROLLERS, "upgrade --feature kraft.version=1"
    for words in (
        "downgrade --feature kraft.version=0",
        "downgrade --feature kraft.version=0 --unsafe",
        "downgrade --feature kraft.version=1",
        "disable --feature kraft.version",
        # the next level has no new records: the way back is open
        "upgrade --metadata 4.0-IV0",
        "downgrade --release-version 3.9 --dry-run",
        "downgrade --release-version 3.9",
        "upgrade --release-version 4.0",
        "downgrade --metadata 3.9-IV0",
        "downgrade --metadata 3.9-IV0 --unsafe",
        "upgrade --release-version 3.9",
        "upgrade --feature eligible.leader.replicas.version=1 --feature group.version=1",
        "disable --feature group.version --dry-run",
        "disable --feature group.version --feature eligible.leader.replicas.version",
        "upgrade --release-version 4.3 --dry-run",
        "upgrade --release-version 4.3",
    ):
        yield CONTROLLERS, words
    yield CONTROLLERS, "describe"


def stopped() -> Iterator[Line]:
    """After the older broker has shut down: it is registered still."""
    yield SERVERS, "upgrade --release-version 4.4"
    yield CONTROLLERS, "upgrade --metadata 4.4-IV2 --dry-run"


def held_back() -> Iterator[Line]:
    """With brokers of 4.4.0, and a controller of the older release that does not vote."""
    yield CONTROLLERS, "describe"
    for place in (SERVERS, CONTROLLERS):
        yield place, "upgrade --release-version 4.4"
        yield place, "upgrade --feature share.version=2 --dry-run"


def replaced() -> Iterator[Line]:
    """With nodes of 4.4.0 alone."""
    yield from _described()
    for words in (
        "upgrade --release-version 4.4 --dry-run",
        "upgrade --release-version 4.4",
        "upgrade --release-version 4.4",
        "downgrade --metadata 4.4-IV1",
        "downgrade --metadata 4.3-IV0 --unsafe",
        "downgrade --release-version 4.3",
        "downgrade --feature share.version=1 --feature streams.version=0",
        "disable --feature transaction.version --unsafe",
        "upgrade --feature transaction.version=2 --feature share.version=2",
        "downgrade --feature eligible.leader.replicas.version=0",
        "upgrade --feature eligible.leader.replicas.version=1",
        "upgrade --feature metadata.version=34",
    ):
        yield SERVERS, words
    yield from _described()


def _described() -> Iterator[Line]:
    yield SERVERS, "describe"
    yield CONTROLLERS, "describe"


def _offline() -> Iterator[Line]:
    """The tool answers these itself."""
    for words in (
        "version-mapping",
        "version-mapping --release-version 3.9",
        "version-mapping --release-version 9.9",
        "feature-dependencies --feature transaction.version=2 --feature metadata.version=30",
        "feature-dependencies --feature eligible.leader.replicas.version=1",
        "feature-dependencies --feature share.version=9",
        "upgrade",
        "upgrade --release-version 4.4 --feature group.version=1",
        "upgrade --feature group.version",
        "upgrade --metadata 9.9",
    ):
        yield CONTROLLERS, words
