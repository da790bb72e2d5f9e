"""The operations of the migration's driver (Java: the MigrationEvents of KRaftMigrationDriver).

Each runs in one state of the driver, from its first step to its last before the next one begins.
It yields the requests to ZooKeeper and to the metadata log and is resumed with their answers.
"""

from __future__ import annotations

from kwire.image import EMPTY, MetadataImage
from kwire.messages.zk_migration_state import ZkMigrationState, migration_state_name
from kwire.migration.driver.claim import after_claim, claim
from kwire.migration.driver.driver_core import DriverCore, QuorumLeader, Steps
from kwire.migration.driver.driver_states import (
    BECOME_CONTROLLER,
    DUAL_WRITE,
    INACTIVE,
    KRAFT_CONTROLLER_TO_BROKER_COMM,
    SYNC_KRAFT_TO_ZK,
    UNINITIALIZED,
    WAIT_FOR_BROKERS,
    WAIT_FOR_CONTROLLER_QUORUM,
    ZK_MIGRATION,
)
from kwire.migration.driver.effects import (
    CheckCopy,
    CopyMetadata,
    EndProcess,
    FindDifferences,
    MeasureDualWrite,
    MetadataCopied,
    ReadAssignedBrokers,
    ReadBrokerIds,
    ReadZkController,
    RecoverMigration,
    SendFullMetadata,
    SendMetadataChanges,
    WriteZooKeeper,
)
from kwire.migration.driver.events import MetadataPublished
from kwire.migration.driver.readiness import unready_controllers, unregistered_brokers
from kwire.migration.driver.writing import CopyFailed, note_offset, write_all
from kwire.zookeeper import MultiFailed
from kwire.zookeeper.znodes.migration import MigrationZnode


def recover(core: DriverCore) -> Steps:
    """Read /migration for the first time (RecoverMigrationStateFromZKEvent)."""
    core.leadership = yield RecoverMigration()
    done = "done" if core.leadership.is_copied else "not done"
    core.info(f"Initial migration of ZK metadata is {done}.")
    core.transition(INACTIVE)


def change_leader(core: DriverCore) -> Steps:
    """Follow the quorum's leader (KRaftLeaderEvent).

    1. Whoever leads, what this controller did in an earlier epoch is over.
    2. If it leads itself, read /migration, which another leader may have written, and wait for the
       quorum. An error leaves the driver inactive; the next poll tries again.
    """
    leader = core.leader
    # 1.
    core.transition(INACTIVE)
    core.failures = 0
    core.leadership = core.leadership.with_kraft_controller(
        -1 if leader.id is None else leader.id, leader.epoch
    )
    if not core.leads:
        core.adopted = leader
        return
    # 2.
    recovered = yield RecoverMigration()
    if core.leader != leader:
        return
    core.adopted, core.recovered = leader, recovered
    core.leadership = recovered.with_kraft_controller(core.node_id, leader.epoch)
    core.transition(WAIT_FOR_CONTROLLER_QUORUM)


def wait_for_controller_quorum(core: DriverCore) -> Steps:
    """Go on by the state in the log (WaitForControllerQuorumEvent).

    1. Wait for the first image.
    2. PRE_MIGRATION: wait until all controllers take part, then for the brokers; but while
       /migration tells of a copy that this log has not, go no further.
    3. MIGRATION: the copy was made. The brokers registered before it; claim ZooKeeper.
    4. MIGRATION, but ZooKeeper does not know it: if /controller and /migration are still those of
       the controller that copied, it died before it could note its copy: claim ZooKeeper. Else
       somebody took the migration back, and this log is of the past: stay inactive.
    5. NONE, POST_MIGRATION: this cluster is not to be migrated; stay inactive.
    """
    # 1.
    if not core.has_image:
        return
    state = core.image.features.zk_migration_state
    # 2.
    if state == ZkMigrationState.PRE_MIGRATION:
        yield from _wait_before_the_copy(core)
    elif state == ZkMigrationState.MIGRATION:
        # 3.
        if core.leadership.is_copied:
            core.info("Migration is already in progress, not waiting on ZK brokers.")
            core.transition(BECOME_CONTROLLER)
            return
        # 4.
        found = yield ReadZkController()
        copier = (core.recovered.kraft_controller_id, core.recovered.kraft_controller_epoch)
        if found.kraft_epoch >= 0 and (found.controller_id, found.kraft_epoch) == copier:
            core.info(f"Controller {copier[0]} had copied the metadata of ZK when it ended.")
            core.leadership = core.leadership.with_metadata(core.at)
            core.transition(BECOME_CONTROLLER)
            return
        core.error("KRaft controller indicates an active migration, but the ZK state does not.")
        core.transition(INACTIVE)
    # 5.
    else:
        name = migration_state_name(state) or str(state)
        core.error(f"The ZkMigrationState is {name}: this cluster is not migrated from ZooKeeper.")
        core.transition(INACTIVE)


def _wait_before_the_copy(core: DriverCore) -> Steps:
    """Do step 2 of `wait_for_controller_quorum`.

    Kafka 3.9 would synchronise: as soon as the log is as long as /migration says, it deletes from
    ZooKeeper all that this log has not, every topic first. Here /migration is read again at each
    poll, until somebody has deleted it, or an image shows the copy.
    """
    if core.leadership.is_copied:
        core.error(
            "/migration says that a copy was made, and this log has none. If it is left from an"
            " earlier migration, delete it: nothing is copied or written until then."
        )
        recovered = yield RecoverMigration()
        core.recovered = recovered
        core.leadership = recovered.with_kraft_controller(core.node_id, core.leader.epoch)
        return
    reason = unready_controllers(core.image, core.voters())
    if reason is None:
        core.info("Controller Quorum is ready for Zk to KRaft migration. Waiting for brokers.")
        core.transition(WAIT_FOR_BROKERS)
    else:
        core.info(f"Still waiting for all controller nodes to be ready: {reason}.")


def wait_for_brokers(core: DriverCore) -> Steps:
    """Wait until every ZooKeeper broker has registered to migrate (WaitForZkBrokersEvent).

    1. There are brokers in the image, and in /brokers/ids.
    2. Each of the latter is registered.
    3. So is each that a topic is assigned to, which may be down. This costs more to find out.
    4. All of ZooKeeper can be copied. Java finds out once it has claimed ZooKeeper, whose
       controller is gone by then.
    """
    # 1.
    if not core.image.cluster.brokers:
        core.info("No brokers are known to KRaft, waiting for brokers to register.")
        return
    ids: frozenset[int] = yield ReadBrokerIds()
    if not ids:
        core.info("No brokers are registered in ZK, waiting for brokers to register.")
        return
    # 2.
    if missing := unregistered_brokers(core.image, ids):
        core.info(f"Still waiting for ZK brokers {missing} to register with KRaft.")
        return
    # 3.
    assigned: frozenset[int] = yield ReadAssignedBrokers()
    if missing := unregistered_brokers(core.image, assigned):
        core.info(f"Still waiting for ZK brokers {missing} found in metadata to register.")
        return
    # 4.
    yield CheckCopy()
    core.info("Zk brokers are registered and ready for migration")
    core.transition(BECOME_CONTROLLER)


def become_controller(core: DriverCore) -> Steps:
    """Claim the leadership in ZooKeeper (BecomeZkControllerEvent).

    1. Read who has it. Raises CannotClaim if it is a later KRaft controller.
    2. Claim it in one multi. If something changed since the read, the next poll tries again.
    3. Without /migration somebody takes the migration back: do not stand in the way.
    4. Copy the metadata of ZooKeeper, or synchronise it if that was done before.
    """
    # 1.
    found = yield ReadZkController()
    operations = claim(found, core.leadership, core.now)
    # 2.
    try:
        results = yield WriteZooKeeper(operations=operations)
    except MultiFailed as refusal:
        # 3.
        if refusal.operation.path == MigrationZnode.path:
            core.error("/migration is gone: the migration is taken back, nothing is written to ZK.")
            core.transition(INACTIVE)
        else:
            core.info(f"Unable to claim leadership, will retry while this node leads: {refusal}")
        return
    core.leadership = after_claim(found, core.leadership, results)
    core.info(f"Claimed ZK controller leadership. The migration is now in {core.leadership}.")
    # 4.
    core.transition(SYNC_KRAFT_TO_ZK if core.leadership.is_copied else ZK_MIGRATION)


def migrate_metadata(core: DriverCore) -> Steps:
    """Copy the metadata of ZooKeeper into the log (MigrateMetadataEvent).

    1. Copy, as one metadata transaction. If ZooKeeper did not answer, or has something that cannot
       be copied, nothing was written: the next poll tries again. If another controller leads, that
       one aborts the transaction.
    2. If the copy failed in its middle the process ends: another leader has to abort it.
    3. Note in /migration how far ZooKeeper's metadata are in the log.
    4. Synchronise, as after every claim.
    """
    # 1.
    core.info("Starting ZK migration")
    leader = core.leader
    try:
        copied: MetadataCopied = yield CopyMetadata(epoch=leader.epoch)
    # 2.
    except CopyFailed as error:
        core.error(f"Aborting the metadata migration from ZooKeeper to KRaft: {error}")
        core.emit(EndProcess(reason=str(error)))
        return
    core.info(
        f"Completed migration of metadata from ZooKeeper to KRaft. {copied.manifest}. The current"
        f" metadata offset is now {copied.end.offset} with an epoch of {copied.end.epoch}. Saw"
        f" {len(copied.broker_ids)} brokers in the migrated metadata {sorted(copied.broker_ids)}."
    )
    # 3.
    core.leadership = core.leadership.with_metadata(copied.end)
    yield from note_offset(core, leader)
    # 4.
    core.transition(SYNC_KRAFT_TO_ZK)


def synchronise(core: DriverCore) -> Steps:
    """Write to ZooKeeper what it lacks of the image (SyncKRaftMetadataEvent).

    1. Wait for an image that has all that ZooKeeper has.
    2. Compare all of ZooKeeper with it, and write the differences.
    3. Note in /migration how far ZooKeeper is now. Java leaves that to the next change, which may
       be long in coming where a log without changes gets no NoOpRecord.
    4. Tell the brokers at once: what was published meanwhile comes after the whole image.
    """
    # 1.
    if core.at < core.leadership.offset_and_epoch:
        core.info(f"The image at {core.at} is older than the metadata in ZK: wait for a newer one.")
        return
    # 2.
    core.info("Performing a full metadata sync from KRaft to ZK.")
    leader, began, at = core.leader, core.now, core.at
    writes = yield _differences(core, core.image)
    yield from write_all(core, leader, writes)
    # 3.
    core.leadership = core.leadership.with_metadata(at)
    yield from note_offset(core, leader)
    took = core.now - began
    core.emit(MeasureDualWrite(offset=at.offset, milliseconds=took, is_snapshot=True))
    core.info(f"Made {len(writes)} ZK writes when reconciling with KRaft state.")
    # 4.
    core.transition(KRAFT_CONTROLLER_TO_BROKER_COMM)
    send_to_brokers(core)


def send_to_brokers(core: DriverCore) -> None:
    """Send the whole image to the brokers, then write changes as they come (SendRPCsToBrokers...).

    A broker sets aside replicas that a full LeaderAndIsr does not list: the image must have all
    that ZooKeeper has.
    """
    if core.at < core.leadership.offset_and_epoch:
        core.info(f"Not sending metadata RPCs: the image at {core.at} is older than ZK.")
        return
    core.info(f"Sending RPCs to brokers before moving to dual-write mode, as of {core.at}.")
    core.emit(
        SendFullMetadata(
            image=core.image,
            raft_epoch=core.at.epoch,
            zk_controller_epoch=core.leadership.zk_controller_epoch,
        )
    )
    core.failures = 0
    core.transition(DUAL_WRITE)


def publish(core: DriverCore, event: MetadataPublished, leader: QuorumLeader) -> Steps:
    """Take a new image and write its changes to ZooKeeper (MetadataChangeEvent).

    leader: when the image was published.

    1. Ignore an empty image before the first real one (KAFKA-15389).
    2. Remember the image, in every state.
    3. Before dual write, only look at once whether the driver can go on.
    4. Ignore an image of another leader's time, and one that ZooKeeper already has.
    5. Write the changes, or after a snapshot all differences; then note the offset in /migration.
    6. Tell the brokers, of changed topics and brokers only (KAFKA-14668).
    """
    # 1.
    if not core.has_image and event.image == EMPTY:
        return
    # 2.
    core.take_image(event.image, event.at)
    # 3.
    if not core.state.allows_dual_write:
        if _may_go_on(core, event):
            core.wake_up()
        return
    # 4.
    has_it = not core.leadership.is_copied or event.at < core.leadership.offset_and_epoch
    if leader != core.leader or has_it:
        return
    # 5.
    began = core.now
    if event.changes is None:
        writes = yield _differences(core, event.image)
    else:
        writes = core.dual_writes(event.changes, core.leadership.kraft_controller_epoch)
    yield from write_all(core, leader, writes)
    core.leadership = core.leadership.with_metadata(event.at)
    yield from note_offset(core, leader)
    core.emit(
        MeasureDualWrite(
            offset=event.at.offset,
            milliseconds=core.now - began if writes else None,
            is_snapshot=event.changes is None,
        )
    )
    # 6.
    _tell_brokers(core, event)


def _tell_brokers(core: DriverCore, event: MetadataPublished) -> None:
    raft_epoch, zk_epoch = event.at.epoch, core.leadership.zk_controller_epoch
    if (changes := event.changes) is None:
        core.emit(
            SendFullMetadata(image=event.image, raft_epoch=raft_epoch, zk_controller_epoch=zk_epoch)
        )
    elif changes.topics or changes.brokers:
        core.emit(
            SendMetadataChanges(
                changes=changes, raft_epoch=raft_epoch, zk_controller_epoch=zk_epoch
            )
        )


def _may_go_on(core: DriverCore, event: MetadataPublished) -> bool:
    """Return True if the driver may wait for what an image brings."""
    if core.state in (UNINITIALIZED, INACTIVE):
        return False
    changes = event.changes
    if changes is None or core.state is SYNC_KRAFT_TO_ZK:
        return True
    return bool(changes.brokers or changes.controllers or changes.zk_migration_state)


def _differences(core: DriverCore, image: MetadataImage) -> FindDifferences:
    return FindDifferences(image=image, controller_epoch=core.leadership.kraft_controller_epoch)
