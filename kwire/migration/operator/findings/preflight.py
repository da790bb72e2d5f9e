"""The kinds of findings of `kwire migration verify` before there is a copy (KIP-866).

What Kafka 3.9 does in each case was read in ZkMigrationClient and asked of its classes.
"""

from __future__ import annotations

from kwire.doctor.finding import FindingKind, FindingVerdict

BROKEN_ZNODE = FindingKind(
    id="before/broken-znode",
    verdict=FindingVerdict.PROBLEM,
    meaning="A znode cannot be read. Kafka 3.9 does not begin a copy while it is a topic's, and"
    " ends the active controller at others; text that is no JSON it takes for empty in"
    " configurations, quotas, ACLs, tokens and states of partitions, which are lost. kwire's"
    " controller copies nothing until all can be read.",
    advice="repair the znode with zookeeper-shell, if possible while no controller is in migration"
    " mode",
    source="KRaftMigrationDriver.MigrateMetadataEvent, WaitForZkBrokersEvent; ZkData.decode",
)
NO_TOPIC_ID = FindingKind(
    id="before/no-topic-id",
    verdict=FindingVerdict.PROBLEM,
    meaning="Topics have no id: the migration waits without end, before it claims ZooKeeper.",
    advice="let a ZooKeeper controller with inter.broker.protocol.version 2.8 or later be elected:"
    " it gives every topic an id",
    source="ZkTopicMigrationClient.iterateTopics",
)
FOREIGN_MIGRATION = FindingKind(
    id="before/foreign-migration",
    verdict=FindingVerdict.PROBLEM,
    meaning="/migration has a content that Kafka 3.9 does not know, and then waits, or is left from"
    " an earlier migration: Kafka 3.9 then copies nothing, and deletes from ZooKeeper what its new"
    " log has not, every topic among it. kwire's controller waits.",
    advice="if no migration is under way and no controller runs, delete /migration with"
    " zookeeper-shell",
    source="MigrationZNode.decode, KRaftMigrationDriver.BecomeZkControllerEvent",
)
COPY_NOT_COMPARED = FindingKind(
    id="sight/copy-not-compared",
    verdict=FindingVerdict.UNKNOWN,
    meaning="/migration says that a copy was made, and the metadata log was not read: nothing was"
    " compared.",
    advice="give --bootstrap-controller with controllers that run; do not delete /migration before"
    " all controllers are stopped",
)
DEAD_BROKER = FindingKind(
    id="before/dead-broker",
    verdict=FindingVerdict.PROBLEM,
    meaning="A broker has replicas and does not run: the migration waits for it without end.",
    advice="start it, or move its replicas away",
    source="KRaftMigrationDriver.areZkBrokersReadyForMigration",
)
NO_BROKERS = FindingKind(
    id="before/no-brokers",
    verdict=FindingVerdict.PROBLEM,
    meaning="No broker is registered in ZooKeeper: the migration waits for one.",
    advice="start the brokers; check the chroot of --zookeeper",
)
WRONG_QUOTA = FindingKind(
    id="before/unreadable-quota",
    verdict=FindingVerdict.PROBLEM,
    meaning="A quota is no number: the copy fails, and Kafka's active controller ends.",
    advice="set it anew with kafka-configs",
    source="ZkAdminManager.clientQuotaPropsToDoubleMap",
)
PAIR_CREDENTIAL = FindingKind(
    id="before/credential-of-a-pair",
    verdict=FindingVerdict.PROBLEM,
    meaning="A SCRAM credential stands with the quotas of a user's client. The copy takes it for a"
    " quota, which is no number, and fails; Kafka's active controller ends.",
    advice="with zookeeper-shell set the znode to what it has, without the credential: nobody logs"
    " in with it; the user's own stands in /config/users/USER",
    source="ZkConfigMigrationClient.iterateClientQuotas",
)
EMPTY_PRODUCER_IDS = FindingKind(
    id="before/empty-producer-ids",
    verdict=FindingVerdict.PROBLEM,
    meaning="/latest_producer_id_block has data of no bytes, where brokers make it without data"
    " (null). Kafka's copy fails, and the active controller ends.",
    advice='with zookeeper-shell set it to {"version":1,"broker":-1,"block_start":"N",'
    '"block_end":"M"}, with M = N + 999 and N above every producer id in use, 0 if there was none',
    source="ZkMigrationClient.migrateProducerId, ProducerIdBlockZNode.parseProducerIdBlockData",
)
WRONG_PASSWORD = FindingKind(
    id="before/unreadable-password",
    verdict=FindingVerdict.PROBLEM,
    meaning="An encrypted password cannot be decoded with this secret: with it the copy fails, and"
    " Kafka's active controller ends.",
    advice="give the controllers password.encoder.secret of the brokers, or set the password anew",
    source="ZkConfigMigrationClient.iterateBrokerConfigs",
)
PLAIN_PASSWORD = FindingKind(
    id="before/unencrypted-password",
    verdict=FindingVerdict.PROBLEM,
    meaning="A password of a broker is not encrypted in ZooKeeper: with password.encoder.secret the"
    " copy fails, and Kafka's active controller ends.",
    advice="set the password anew with kafka-configs, through a broker that has"
    " password.encoder.secret",
    source="ZkConfigMigrationClient.iterateBrokerConfigs, EncryptingPasswordEncoder.decode",
)
NO_BROKER_ID = FindingKind(
    id="before/config-of-no-broker",
    verdict=FindingVerdict.PROBLEM,
    meaning="A znode below /config/brokers is named by no broker's id: Kafka's copy fails, and the"
    " active controller ends. kwire's controller copies it as it is.",
    advice="with zookeeper-shell delete this znode",
    source="ZkConfigMigrationClient.iterateBrokerConfigs",
)
DOUBLED_TOPIC_ID = FindingKind(
    id="before/doubled-topic-id",
    verdict=FindingVerdict.PROBLEM,
    meaning="Topics share an id. The metadata log knows topics by their ids: the one that is copied"
    " last takes the place of the other, whose partitions are lost.",
    advice="copy the records of all but one of them to new topics, and delete these before the"
    " migration",
    source="TopicsDelta.replay(TopicRecord)",
)
PARTITION_GAPS = FindingKind(
    id="before/partition-gaps",
    verdict=FindingVerdict.PROBLEM,
    meaning="The numbers of a topic's partitions have a gap. A KRaft controller numbers new"
    " partitions from the count of those there are: the next ones overwrite existing partitions.",
    advice="with zookeeper-shell add the missing numbers to the znode of the topic, with replicas:"
    " the ZooKeeper controller makes these partitions",
    source="ReplicationControlManager.createPartitions",
)
INCONSISTENT_PARTITION = FindingKind(
    id="before/inconsistent-partition",
    verdict=FindingVerdict.PROBLEM,
    meaning="A partition has no replicas or one twice, an ISR outside of them, or a leader outside"
    " of the ISR. Without replicas Kafka's copy fails, and the active controller ends. Otherwise it"
    " is copied as it is, and KRaft controllers work with a state that none of them would write.",
    advice="give the partition other replicas with kafka-reassign-partitions",
    source="ReplicationControlManager.validateManualPartitionAssignment",
)
NO_LEADER = FindingKind(
    id="before/no-leader",
    verdict=FindingVerdict.WARNING,
    meaning="A partition has no leader, and its ISR is empty. A KRaft controller elects leaders"
    " from the ISR only, so that the partition stays without one.",
    advice="before the migration, let ZooKeeper's controller elect one: start a broker with a"
    " replica, and set unclean.leader.election.enable=true on the topic, which may lose records",
    source="PartitionChangeBuilder.electLeader",
)
TOPIC_NAME = FindingKind(
    id="before/invalid-topic-name",
    verdict=FindingVerdict.WARNING,
    meaning="The name of a topic is one that Kafka refuses to create. It is copied; tools and"
    " brokers take only names of letters, digits, `.`, `_` and `-`.",
    advice="copy its records to a new topic, and delete it",
    source="Topic.validate",
)
REFUSED_VALUE = FindingKind(
    id="before/refused-value",
    verdict=FindingVerdict.PROBLEM,
    meaning="A configuration has a value that its key does not take, as of Kafka 4.3. It is copied"
    " as it is. KRaft brokers do not start with such a value of a topic, and do not apply one of a"
    " broker.",
    advice="set it anew, or delete it, with kafka-configs",
    source="BrokerMetadataPublisher.initializeManagers, LogManager.fetchTopicConfigOverrides",
)
CONFIG_WITHOUT_TOPIC = FindingKind(
    id="before/config-of-no-topic",
    verdict=FindingVerdict.WARNING,
    meaning="There is configuration of a topic that does not exist. It is not copied, and is"
    " deleted from ZooKeeper.",
    advice="delete it with kafka-configs, unless the topic should be there",
    source="ZkTopicMigrationClient.iterateTopics",
)
PASSWORDS = FindingKind(
    id="before/passwords",
    verdict=FindingVerdict.WARNING,
    meaning="ZooKeeper has encrypted passwords. Controllers without password.encoder.secret copy"
    " them encrypted, and brokers then take that text for the password.",
    advice="give the controllers password.encoder.secret of the brokers; try it with"
    " --password-encoder-secret FILE",
    source="ControllerServer, PasswordEncoder.NOOP",
)
PENDING_DELETION = FindingKind(
    id="before/pending-deletions",
    verdict=FindingVerdict.INFO,
    meaning="Topics are being deleted: they are not copied, and are gone afterwards.",
    source="ZkTopicMigrationClient.iterateTopics",
)
REASSIGNMENT = FindingKind(
    id="before/reassignments",
    verdict=FindingVerdict.INFO,
    meaning="Partitions are being reassigned; the copy takes this over, the KRaft controller"
    " completes it.",
)
READABLE = FindingKind(
    id="before/ok",
    verdict=FindingVerdict.OK,
    meaning="Nothing in ZooKeeper stands against a copy.",
)
PREFLIGHT_KINDS = (
    BROKEN_ZNODE,
    NO_TOPIC_ID,
    FOREIGN_MIGRATION,
    COPY_NOT_COMPARED,
    DEAD_BROKER,
    NO_BROKERS,
    WRONG_QUOTA,
    PAIR_CREDENTIAL,
    EMPTY_PRODUCER_IDS,
    WRONG_PASSWORD,
    PLAIN_PASSWORD,
    NO_BROKER_ID,
    DOUBLED_TOPIC_ID,
    PARTITION_GAPS,
    INCONSISTENT_PARTITION,
    NO_LEADER,
    TOPIC_NAME,
    REFUSED_VALUE,
    CONFIG_WITHOUT_TOPIC,
    PASSWORDS,
    PENDING_DELETION,
    REASSIGNMENT,
    READABLE,
)
"""The kinds that `verify` finds before there is a copy."""
