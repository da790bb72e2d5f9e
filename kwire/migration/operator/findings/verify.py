"""The kinds of findings of `kwire migration verify` when there is a copy (KIP-866).

What Kafka 3.9 does in each case was read in KRaftMigrationDriver and KRaftMigrationZkWriter.
"""

from __future__ import annotations

from kwire.doctor.finding import FindingKind, FindingVerdict

RESYNCHRONISE = (
    "look for the error in the active controller's log, then restart this controller: the next one"
    " synchronises ZooKeeper; verify again"
)

MISSING = FindingKind(
    id="difference/missing",
    verdict=FindingVerdict.PROBLEM,
    meaning="The metadata log has it, and ZooKeeper does not: a dual write failed. Kafka logs the"
    " error, and does not repeat the write before the next synchronisation.",
    advice=RESYNCHRONISE,
    source="KRaftMigrationDriver.MetadataChangeEvent",
)
EXTRA = FindingKind(
    id="difference/extra",
    verdict=FindingVerdict.PROBLEM,
    meaning="ZooKeeper has it, and the metadata log does not: a deletion was not written, or"
    " somebody else writes to ZooKeeper.",
    advice=RESYNCHRONISE,
    source="KRaftMigrationDriver.MetadataChangeEvent",
)
CHANGED = FindingKind(
    id="difference/changed",
    verdict=FindingVerdict.PROBLEM,
    meaning="Both sides have it with different values: a dual write failed, or somebody else writes"
    " to ZooKeeper.",
    advice=RESYNCHRONISE,
    source="KRaftMigrationDriver.MetadataChangeEvent",
)
WOULD_BE_LOST = FindingKind(
    id="way-back/would-lose",
    verdict=FindingVerdict.PROBLEM,
    meaning="The dual write stands still, and the metadata log has changes that ZooKeeper has not"
    " got. They were acknowledged; going back now would lose them.",
    advice="do not go back: first let ZooKeeper catch up, see the other findings for what stops it;"
    " then verify again",
    source="KRaftMigrationDriver.SyncKRaftMetadataEvent",
)
EXTRA_PARTITIONS = FindingKind(
    id="trap/partitions-missing",
    verdict=FindingVerdict.PROBLEM,
    meaning="ZooKeeper lacks partitions of a topic, or their state. A synchronisation sets these"
    " znodes, which do not exist, and fails: the dual write stops at the next change of the active"
    " controller. A leader that dies in the middle of a new topic's znodes leaves them so.",
    advice="with zookeeper-shell create /brokers/topics/TOPIC/partitions and partitions/N, empty,"
    ' where they are not there, and below it state with {"version":1,"leader":-1,"leader_epoch":0,'
    '"controller_epoch":0,"isr":[]}, not empty; the driver tries again within a minute and gives it'
    " its content",
    source="KRaftMigrationZkWriter.handleTopicsSnapshot, updateTopicPartitions",
)
NO_STATE = FindingKind(
    id="difference/no-state",
    verdict=FindingVerdict.INFO,
    meaning="Partitions have no state in ZooKeeper. Kafka takes it for led by the first replica, in"
    " epoch 0, which is what the metadata log has.",
    source="ZkTopicMigrationClient.iterateTopics",
)
QUOTA_LEFT = FindingKind(
    id="trap/quota-left",
    verdict=FindingVerdict.PROBLEM,
    meaning="ZooKeeper has quotas of a client id, an address or a pair that were removed. In dual"
    " write Kafka 3.9 fails (NullPointerException) when the last quota of such an entity is"
    " removed, and skips the other changes of the same batch.",
    advice=RESYNCHRONISE,
    source="KRaftMigrationZkWriter.handleClientQuotasDelta",
)
CONFIG_OF_NO_TOPIC = FindingKind(
    id="trap/config-of-no-topic",
    verdict=FindingVerdict.WARNING,
    meaning="ZooKeeper has configuration of topics that neither side has. A controller of Kafka 3.9"
    " that reads at once, as at its start, that a topic was made, configured and deleted, keeps the"
    " configuration; its synchronisation writes it to ZooKeeper. A new topic of that name gets it.",
    advice="with zookeeper-shell delete /config/topics/TOPIC; look at the configuration of a topic"
    " that is made under such a name",
    source="ConfigurationsDelta.replay(RemoveTopicRecord)",
)
OTHER_CONFIGS = FindingKind(
    id="trap/configs-of-other-kinds",
    verdict=FindingVerdict.PROBLEM,
    meaning="The metadata log has configuration of client metrics or groups, for which ZooKeeper"
    " has no place. The next synchronisation fails with it, and with it the dual write.",
    advice="delete this configuration until the migration is finalised; a driver that stopped at it"
    " then goes on by itself",
    source="KRaftMigrationZkWriter.handleConfigsSnapshot",
)
COPIED_ENCRYPTED = FindingKind(
    id="trap/passwords-copied-encrypted",
    verdict=FindingVerdict.PROBLEM,
    meaning="A password stands in the metadata log as ZooKeeper has it, encrypted: the controllers"
    " had no password.encoder.secret when they copied it.",
    advice="set the password anew with kafka-configs, and give the controllers"
    " password.encoder.secret of the brokers",
    source="KafkaConfig.passwordEncoderSecret, ControllerServer",
)
NOT_COMPARED = FindingKind(
    id="sight/passwords",
    verdict=FindingVerdict.INFO,
    meaning="Passwords are encrypted in ZooKeeper and plain in the metadata log: they were not"
    " compared.",
    advice="give --password-encoder-secret FILE with password.encoder.secret of the brokers",
)
STILL_MOVING = FindingKind(
    id="sight/moving",
    verdict=FindingVerdict.UNKNOWN,
    meaning="Entries changed again and again while they were compared: it is not known if both"
    " sides have the same.",
    advice="ask again when the cluster is quieter",
)
AHEAD = FindingKind(
    id="difference/ahead",
    verdict=FindingVerdict.INFO,
    meaning="ZooKeeper has values of records after /migration's offset. Nothing is wrong: dual"
    " write and a synchronisation write /migration last, so that it is behind.",
    source="KRaftMigrationDriver.MetadataChangeEvent, SyncKRaftMetadataEvent",
)
OTHER_OFFSET = FindingKind(
    id="sight/other-offset",
    verdict=FindingVerdict.WARNING,
    meaning="The metadata log begins after the offset of /migration: what ZooKeeper had to have"
    " at that offset is not known. Differences may be changes that it has not got yet.",
    advice="verify again when ZooKeeper has caught up",
)
HARMLESS = FindingKind(
    id="difference/harmless",
    verdict=FindingVerdict.INFO,
    meaning="Both sides differ where Kafka lets them differ.",
)
EQUAL = FindingKind(
    id="difference/none",
    verdict=FindingVerdict.OK,
    meaning="ZooKeeper and the metadata log hold the same.",
)
FINALISED = FindingKind(
    id="sides/finalised",
    verdict=FindingVerdict.INFO,
    meaning="The migration is finalised: ZooKeeper is not written any more, and not compared.",
)
NO_MIGRATION = FindingKind(
    id="sides/no-migration",
    verdict=FindingVerdict.INFO,
    meaning="The controllers began as KRaft: there is nothing to compare.",
)
VERIFY_KINDS = (
    MISSING,
    EXTRA,
    CHANGED,
    WOULD_BE_LOST,
    EXTRA_PARTITIONS,
    QUOTA_LEFT,
    CONFIG_OF_NO_TOPIC,
    OTHER_CONFIGS,
    COPIED_ENCRYPTED,
    NOT_COMPARED,
    STILL_MOVING,
    AHEAD,
    OTHER_OFFSET,
    NO_STATE,
    HARMLESS,
    EQUAL,
    FINALISED,
    NO_MIGRATION,
)
"""The kinds that `verify` finds once there is a copy."""
