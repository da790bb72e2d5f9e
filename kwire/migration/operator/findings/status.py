"""The kinds of findings of `kwire migration status` (KIP-866; Java: KRaftMigrationDriver)."""

from __future__ import annotations

from kwire.doctor.finding import FindingKind, FindingVerdict

NO_ZOOKEEPER = FindingKind(
    id="sight/no-zookeeper",
    verdict=FindingVerdict.UNKNOWN,
    meaning="ZooKeeper could not be read.",
    advice="compare --zookeeper with zookeeper.connect of a broker, and its chroot",
)
NO_ACCESS = FindingKind(
    id="sight/no-access",
    verdict=FindingVerdict.UNKNOWN,
    meaning="ZooKeeper does not accept the login, or a znode's ACL does not permit this session to"
    " read it.",
    advice="set kwire.zookeeper.digest=USER:PASSWORD or java.security.auth.login.config=FILE (JAAS)"
    " in the file of --zookeeper-config",
)
NO_CONTROLLERS = FindingKind(
    id="sight/no-controllers",
    verdict=FindingVerdict.UNKNOWN,
    meaning="No controller answered.",
    advice="compare --bootstrap-controller with controller.quorum.voters; before a migration there"
    " are none, leave the option out",
)
NO_LOG = FindingKind(
    id="sight/no-log",
    verdict=FindingVerdict.UNKNOWN,
    meaning="Controllers answer, but the metadata log could not be read.",
    advice="see that a controller leads, and that this principal has CLUSTER_ACTION",
)
OTHER_CLUSTER = FindingKind(
    id="sides/other-cluster",
    verdict=FindingVerdict.PROBLEM,
    meaning="The controllers were formatted with another cluster id than ZooKeeper has: brokers do"
    " not register with them.",
    advice="format the controllers with the id of /cluster/id",
)
BEGAN_AS_KRAFT = FindingKind(
    id="sides/began-as-kraft",
    verdict=FindingVerdict.PROBLEM,
    meaning="The controllers were first started without zookeeper.metadata.migration.enable: their"
    " metadata log is KRaft's own, and Kafka 3.9 does not start with the setting any more. Or they"
    " are the controllers of another cluster.",
    advice="if they are this cluster's, delete their log directories, format them anew, and start"
    " them with zookeeper.metadata.migration.enable=true and zookeeper.connect; else correct"
    " --bootstrap-controller",
    source="ActivationRecordsGenerator.recordsForNonEmptyLog",
)
LOST = FindingKind(
    id="sides/lost",
    verdict=FindingVerdict.PROBLEM,
    meaning="The metadata log is in a migration, and /migration has no offset: the controllers"
    " write nothing to ZooKeeper.",
    advice="check zookeeper.connect of the controllers, with its chroot; if somebody deleted"
    " /migration, finalise the migration or restore it from a copy",
    source="KRaftMigrationDriver.WaitForControllerQuorumEvent",
)
UNNOTED = FindingKind(
    id="sides/copy-unnoted",
    verdict=FindingVerdict.PROBLEM,
    meaning="The active controller ended after the copy was in the metadata log, and before"
    " /migration had its offset. Kafka 3.9's driver stays INACTIVE from then on: brokers in"
    " migration mode are told nothing, and nothing is written to ZooKeeper.",
    advice="go back to ZooKeeper, format the controllers anew, and migrate again; what was changed"
    " since the copy is lost. kwire's controllers go on by themselves",
    source="KRaftMigrationDriver.WaitForControllerQuorumEvent",
)
CONTROLLER_TAKEN = FindingKind(
    id="sides/controller-taken",
    verdict=FindingVerdict.PROBLEM,
    meaning="A broker in ZooKeeper mode is the controller in ZooKeeper while the metadata log is in"
    " a migration.",
    advice="if a rollback is under way, stop the controllers; else see that this broker has"
    " zookeeper.metadata.migration.enable, and restart it",
    source="KAFKA-16171",
)
NO_LEADER = FindingKind(
    id="dual-write/no-leader",
    verdict=FindingVerdict.WARNING,
    meaning="No controller leads the metadata quorum. Nobody takes changes, and nothing is written"
    " to ZooKeeper.",
    advice="start the controllers that do not answer; if you stopped them to go back, go on with"
    " the way back at once",
    source="KRaftMigrationDriver.KRaftLeaderEvent",
)
BEHIND = FindingKind(
    id="dual-write/behind",
    verdict=FindingVerdict.WARNING,
    meaning="ZooKeeper is behind the metadata log: the dual write has stopped, or is catching up.",
    advice="ask again in some seconds; if it does not shrink, see the active controller's log",
    source="KIP-866, ZkWriteBehindLag",
)
TOPICS_UNWRITTEN = FindingKind(
    id="way-back/topics",
    verdict=FindingVerdict.WARNING,
    meaning="The metadata log has topics that ZooKeeper has not got yet. Going back now would lose"
    " them; with each topic its data.",
    advice="do not go back before ZooKeeper has caught up; if it does not, `kwire migration verify`"
    " tells what stops it",
    source="KRaftMigrationDriver.SyncKRaftMetadataEvent",
)
FINALISES = FindingKind(
    id="readiness/controller-finalises",
    verdict=FindingVerdict.WARNING,
    meaning="A controller runs without zookeeper.metadata.migration.enable while the metadata"
    " log is in dual write. If it becomes active, it finalises the migration, and there is no"
    " way back.",
    advice="to finalise, restart the other controllers like it, the active one last; else set"
    " zookeeper.metadata.migration.enable=true with zookeeper.connect, and restart it",
    source="ActivationRecordsGenerator.recordsForNonEmptyLog",
)
BROKER_NOT_READY = FindingKind(
    id="readiness/broker",
    verdict=FindingVerdict.WARNING,
    meaning="The migration waits for brokers.",
    advice="see what each of them lacks under Brokers",
    source="KRaftMigrationDriver.areZkBrokersReadyForMigration",
)
FINALISED_TOO_EARLY = FindingKind(
    id="readiness/finalised-too-early",
    verdict=FindingVerdict.PROBLEM,
    meaning="The migration is finalised, and a broker is registered as a ZooKeeper broker.",
    advice="restart it as a KRaft broker",
    source="KAFKA-20960",
)
STATUS_KINDS = (
    NO_ZOOKEEPER,
    NO_ACCESS,
    NO_CONTROLLERS,
    NO_LOG,
    OTHER_CLUSTER,
    BEGAN_AS_KRAFT,
    LOST,
    UNNOTED,
    CONTROLLER_TAKEN,
    NO_LEADER,
    BEHIND,
    TOPICS_UNWRITTEN,
    FINALISES,
    BROKER_NOT_READY,
    FINALISED_TOO_EARLY,
)
"""The kinds that `status` finds."""
