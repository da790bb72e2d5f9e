"""The state of a migration, and a comparison, as plain values: the JSON of `kwire migration`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kwire.cli.findings import finding_document

if TYPE_CHECKING:
    from kwire.migration.operator.comparison import EntryDifference
    from kwire.migration.operator.facts import KRaftFacts, ZooKeeperFacts
    from kwire.migration.operator.readiness import BrokerReadiness, ControllerReadiness
    from kwire.migration.operator.status import MigrationStatus


def status_document(status: MigrationStatus) -> dict[str, Any]:
    """Return everything that `kwire migration status` tells."""
    facts = status.facts
    return {
        "stage": status.stage.value,
        "sentence": status.sentence,
        "kraft": None if facts.kraft is None else _kraft(facts.kraft),
        "zookeeper": None if facts.zookeeper is None else _zookeeper(facts.zookeeper),
        "driver": {
            "state": status.driver.state or None,
            "reason": status.driver.reason,
            "waitsFor": status.driver.waits_for or None,
        },
        "lag": status.lag,
        "controllers": [*map(_controller, status.controllers)],
        "brokers": [*map(_broker, status.brokers)],
        "wayBack": {
            "exists": status.way_back.exists,
            "sentence": status.way_back.sentence,
            "steps": [
                {"sentence": step.sentence, "command": step.command or None}
                for step in status.way_back.steps
            ],
        },
        "findings": [*map(finding_document, status.findings)],
    }


def _controller(item: ControllerReadiness) -> dict[str, Any]:
    return {
        "id": item.node_id,
        "ready": item.is_ready,
        "registeredReady": item.registered,
        "apiVersionsReady": item.tag,
        "reason": item.reason or None,
    }


def _broker(item: BrokerReadiness) -> dict[str, Any]:
    return {
        "id": item.node_id,
        "ready": item.is_ready,
        "mode": None if item.mode is None else item.mode.value,
        "inZooKeeper": item.in_zookeeper,
        "assignedTopics": item.assigned_topics,
        "reason": item.reason or None,
    }


def _kraft(kraft: KRaftFacts) -> dict[str, Any]:
    from kwire.messages.zk_migration_state import migration_state_name

    image, state = kraft.image, kraft.state
    return {
        "clusterId": kraft.cluster_id,
        "state": None if state is None else migration_state_name(state) or "unknown",
        "stateNumber": state,
        "leaderId": kraft.leader_id,
        "leaderEpoch": kraft.epoch,
        "metadataVersion": None if image is None else image.features.metadata_version.level,
        "lastRecord": None if image is None else kraft.end - 1,
        "silent": list(kraft.silent),
    }


def _zookeeper(zookeeper: ZooKeeperFacts) -> dict[str, Any]:
    controller, position = zookeeper.controller, zookeeper.migration
    return {
        "clusterId": zookeeper.cluster_id,
        "controller": controller
        and {
            "id": controller.node_id,
            "kraftEpoch": controller.kraft_epoch,
            "ephemeral": controller.is_ephemeral,
        },
        "controllerEpoch": zookeeper.controller_epoch,
        "migration": position
        and {
            "kraftControllerId": position.kraft_controller_id,
            "kraftControllerEpoch": position.kraft_controller_epoch,
            "kraftMetadataOffset": position.kraft_metadata_offset,
            "kraftMetadataEpoch": position.kraft_metadata_epoch,
        },
        "brokerIds": sorted(zookeeper.broker_ids),
    }


def difference_document(difference: EntryDifference) -> dict[str, Any]:
    """Return a difference; secrets are hidden. harmless: the reason, or null."""
    from kwire.migration.operator.comparison import harmless_reason

    return {
        "kind": difference.kind.value,
        "name": difference.name,
        "field": difference.field or None,
        "zookeeper": _plain(difference.zookeeper),
        "kraft": _plain(difference.kraft),
        "harmless": harmless_reason(difference) or None,
    }


def _plain(value: object) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return (
        value if value is None or isinstance(value, bool | int | float | str | list) else str(value)
    )
