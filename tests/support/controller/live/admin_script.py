"""The steps of the scripted session, right and wrong ones, in the order that they build on."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from kwire.codec.declaration import Request
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.a19_create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kwire.messages.a20_delete_topics import DeleteTopicsRequest, DeleteTopicState
from kwire.messages.a37_create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kwire.messages.a43_elect_leaders import ElectLeadersRequest, TopicPartitions
from kwire.messages.a46_list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from kwire.messages.a56_alter_partition import AlterPartitionRequest
from kwire.messages.a56_alter_partition import PartitionData as IsrPartition
from kwire.messages.a56_alter_partition import TopicData as IsrTopic
from kwire.messages.a57_update_features import FeatureUpdateKey, UpdateFeaturesRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.a62_broker_registration import Feature
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest
from kwire.messages.a67_allocate_producer_ids import AllocateProducerIdsRequest
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest
from kwire.messages.a80_add_raft_voter import Listener as VoterListener
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest
from kwire.messages.a82_update_raft_voter import KRaftVersionFeature, UpdateRaftVoterRequest
from kwire.messages.a82_update_raft_voter import Listener as UpdatedListener
from kwire.text.ids import ZERO_UUID
from tests.support.controller.live.admin_session import Session, Step, metadata_quorum
from tests.support.controller.live.config_script import (
    APPEND,
    SET,
    SUBTRACT,
    TOPIC,
    alter,
    configs,
    describe,
)

NOBODY = UUID(int=99)
TIMEOUT = 5000


def script(session: Session) -> Iterator[Step]:
    """All steps that leave the leader in office."""
    yield from _cluster(session)
    yield from _registrations(session)
    yield from _topics()
    yield from _partitions()
    yield from configs(session)
    yield from _elections()
    yield from _features()
    yield from _voters(session)
    yield from _refused_by_a_follower(session)
    yield from _ends()


def _cluster(session: Session) -> Iterator[Step]:
    software = ApiVersionsRequest(client_software_name="kwire", client_software_version="1")
    for version in (0, 3, 4):
        yield Step(name=f"ApiVersions v{version}", request=software, version=version)
    yield Step(name="ApiVersions of nameless software", request=ApiVersionsRequest(), version=4)
    for endpoint_type in (1, 2, 3):
        request = DescribeClusterRequest(endpoint_type=endpoint_type)
        yield Step(name=f"DescribeCluster, endpoint type {endpoint_type}", request=request)
    yield Step(name="DescribeCluster v0", request=DescribeClusterRequest(), version=0)
    for version in (0, 1, 2):
        request_ = metadata_quorum()
        yield Step(name=f"DescribeQuorum v{version}", request=request_, version=version)
    yield Step(name="DescribeQuorum of a topic", request=metadata_quorum("t"))
    yield Step(name="DescribeQuorum of a partition", request=metadata_quorum(partition=1))


def _registrations(session: Session) -> Iterator[Step]:
    wrong: dict[str, dict[str, object]] = {
        "of another cluster": {"cluster_id": "AAAAAAAAAAAAAAAAAAAAAA"},
        "of a live broker's other incarnation": {"incarnation_id": NOBODY},
        "without features": {"broker_id": 3, "features": []},
        "without listeners": {"broker_id": 3, "listeners": []},
        "without directories": {"broker_id": 3, "log_dirs": ()},
        "with another's directory": {"broker_id": 3},
        "of a migrating broker": {"broker_id": 3, "is_migrating_zk_broker": True},
        "of a cluster without an id": {"broker_id": 3, "cluster_id": ""},
        **{
            f"with directories {' and '.join(map(str, ids))}": {
                "broker_id": 3,
                "log_dirs": tuple(UUID(int=id) for id in ids),
            }
            for ids in ((0,), (1,), (2,), (777, 777), (777, 1))
        },
        **{
            f"with a feature from {least} to {most}": {
                "broker_id": 3,
                "log_dirs": (UUID(int=777),),
                "features": [*session.features, _feature("x", least, most)],
            }
            for least, most in ((2, 1), (-2, -1))
        },
    }
    for name, changes in wrong.items():
        request = session.registration(1).replace(**changes)
        yield Step(name=f"registration {name}", request=request)
    for name, id, epoch in (("stale", 1, 0), ("unknown", 77, 0)):
        beat = BrokerHeartbeatRequest(broker_id=id, broker_epoch=epoch, current_metadata_offset=1)
        yield Step(name=f"heartbeat of a {name} broker", request=beat)
        ids = AllocateProducerIdsRequest(broker_id=id, broker_epoch=epoch)
        yield Step(name=f"producer ids for a {name} broker", request=ids)
        some = IsrTopic(topic_id=NOBODY, partitions=[IsrPartition(partition_index=0)])
        isr = AlterPartitionRequest(broker_id=id, broker_epoch=epoch, topics=[some])
        yield Step(name=f"AlterPartition of a {name} broker", request=isr)
        nothing = isr.replace(topics=[])
        yield Step(name=f"AlterPartition of nothing by a {name} broker", request=nothing)
    own = AllocateProducerIdsRequest(broker_id=1, broker_epoch=session.epochs[1])
    yield Step(name="producer ids", request=own)
    yield Step(name="UnregisterBroker of nobody", request=UnregisterBrokerRequest(broker_id=77))


def _create(name: str, topic: CreatableTopic, version: int | None = None) -> Step:
    request = CreateTopicsRequest(topics=[topic], timeout_ms=TIMEOUT)
    return Step(name=f"CreateTopics {name}", request=request, version=version)


def _topic(
    name: str,
    partitions: int = 1,
    replicas: int = 1,
    assigned: tuple[tuple[int, ...], ...] = (),
    **configs: str | None,
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=replicas,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=ids)
            for index, ids in enumerate(assigned)
        ],
        configs=[
            CreatableTopicConfig(name=key.replace("_", "."), value=value)
            for key, value in configs.items()
        ],
    )


def _topics() -> Iterator[Step]:
    yield _create("of two replicas", _topic("t", 2, 2))
    yield _create("v2", _topic("v2"), version=2)
    yield _create("v5", _topic("v5"), version=5)
    yield _create("with defaults", _topic("defaults", -1, -1))
    yield _create("again", _topic("t"))
    yield _create("with configs", _topic("c", retention_ms="1000", cleanup_policy="compact"))
    yield _create("by assignment", _topic("m", -1, -1, ((1, 2), (2, 1))))
    long = "x" * 250
    for name in ("", ".", "..", "a/b", long):
        yield _create(f"named {name[:3]!r}", _topic(name))
    yield _create("that collides", _topic("c_d"))
    yield _create("that collides with it", _topic("c.d"))
    for replicas in (0, -2, 3):
        yield _create(f"of {replicas} replicas", _topic("r", 1, replicas))
    for partitions in (0, -2):
        yield _create(f"of {partitions} partitions", _topic("p", partitions))
    bad = {"on nobody": ((77,),), "twice on one": ((1, 1),), "uneven": ((1,), (1, 2))}
    for name, assigned in {**bad, "on no replicas": ((),)}.items():
        yield _create(f"assigned {name}", _topic("a", -1, -1, assigned))
    yield _create("assigned and counted", _topic("a", 1, 1, ((1,),)))
    yield _create("with an unknown config", _topic("u", no_such="1"))
    yield _create("with a wrong number", _topic("u", retention_ms="soon"))
    yield _create("with a number out of bounds", _topic("u", retention_ms="-2"))
    yield _create("with a wrong list", _topic("u", cleanup_policy="burn"))
    yield _create("with a null config", _topic("u", retention_ms=None))
    request = CreateTopicsRequest(topics=[_topic("only")], timeout_ms=TIMEOUT, validate_only=True)
    yield Step(name="CreateTopics only validated", request=request)
    twice = CreateTopicsRequest(topics=[_topic("d"), _topic("d"), _topic("e")], timeout_ms=TIMEOUT)
    yield Step(name="CreateTopics of one twice", request=twice)
    yield Step(name="CreateTopics of none", request=CreateTopicsRequest(topics=[]))


def _partitions() -> Iterator[Step]:
    def grow(name: str, topic: str, count: int, *assigned: tuple[int, ...]) -> Step:
        assignments = [CreatePartitionsAssignment(broker_ids=ids) for ids in assigned] or None
        one = CreatePartitionsTopic(name=topic, count=count, assignments=assignments)
        request = CreatePartitionsRequest(topics=[one], timeout_ms=TIMEOUT)
        return Step(name=f"CreatePartitions {name}", request=request)

    yield grow("to 4", "t", 4)
    yield grow("to fewer", "t", 1)
    yield grow("to as many", "t", 4)
    yield grow("of nothing", "nothing", 4)
    yield grow("assigned", "m", 3, (2, 1))
    yield grow("assigned to nobody", "m", 4, (77, 1))
    yield grow("assigned too few", "m", 5, (1, 2))
    yield grow("assigned unevenly", "m", 4, (1,))
    twice = CreatePartitionsTopic(name="t", count=9, assignments=None)
    request = CreatePartitionsRequest(topics=[twice, twice], timeout_ms=TIMEOUT)
    yield Step(name="CreatePartitions of one twice", request=request)


def _elections() -> Iterator[Step]:
    def elect(name: str, type_: int, *partitions: tuple[str, int], version: int = 2) -> Step:
        wanted = [TopicPartitions(topic=topic, partitions=(id,)) for topic, id in partitions]
        request = ElectLeadersRequest(
            election_type=type_, topic_partitions=wanted or None, timeout_ms=TIMEOUT
        )
        return Step(name=f"ElectLeaders {name}", request=request, version=version)

    yield elect("that is there", 0, ("m", 0))
    yield elect("uncleanly, needless", 1, ("m", 0))
    yield elect("of the unknown", 0, ("m", 9), ("nothing", 0))
    yield elect("of all", 0)
    yield elect("of type 9", 9, ("m", 0))
    yield elect("v0", 0, ("m", 0), version=0)
    nothing = ElectLeadersRequest(election_type=9, topic_partitions=[], timeout_ms=TIMEOUT)
    yield Step(name="ElectLeaders of nothing, of type 9", request=nothing)
    request = ListPartitionReassignmentsRequest()
    yield Step(name="ListPartitionReassignments", request=request)
    some = [
        ListPartitionReassignmentsTopics(name="m", partition_indexes=(0, 9)),
        ListPartitionReassignmentsTopics(name="nothing", partition_indexes=(0,)),
    ]
    request = ListPartitionReassignmentsRequest(topics=some)
    yield Step(name="ListPartitionReassignments of some", request=request)


def _features() -> Iterator[Step]:
    def update(name: str, feature: str, level: int, type_: int = 1, version: int = 2) -> Step:
        key = FeatureUpdateKey(feature=feature, max_version_level=level, upgrade_type=type_)
        request = UpdateFeaturesRequest(
            feature_updates=[key], validate_only=True, timeout_ms=TIMEOUT
        )
        return Step(name=f"UpdateFeatures {name}", request=request, version=version)

    yield update("to what is", "metadata.version", 30)
    yield update("too high", "metadata.version", 999)
    yield update("of the unknown", "no.such", 1)
    yield update("lower as an upgrade", "metadata.version", 29)
    yield update("lower, safely", "metadata.version", 29, 2)
    yield update("of type 9", "metadata.version", 30, 9)
    yield update("below 0", "group.version", -1)
    yield update("below 0, v1", "group.version", -1, version=1)
    yield update("of groups to 0", "group.version", 0, 2)
    yield update("of eligible leaders to 0", "eligible.leader.replicas.version", 0, 2)
    yield update("of eligible leaders to 2", "eligible.leader.replicas.version", 2)
    yield update("of kraft.version", "kraft.version", 1)
    yield update("of kraft.version to 9", "kraft.version", 9)
    yield update("of kraft.version to 0", "kraft.version", 0, 3)
    for version in (0, 1):
        keys = [FeatureUpdateKey(feature="group.version", max_version_level=1)] * 2
        request = UpdateFeaturesRequest(feature_updates=keys, timeout_ms=TIMEOUT)
        yield Step(name=f"UpdateFeatures twice, v{version}", request=request, version=version)
    for level in (0, 1):
        key = FeatureUpdateKey(
            feature="group.version", max_version_level=level, allow_downgrade=True
        )
        request = UpdateFeaturesRequest(feature_updates=[key], timeout_ms=TIMEOUT)
        yield Step(name=f"UpdateFeatures v0, downgrade to {level}", request=request, version=0)


def _voters(session: Session) -> Iterator[Step]:
    at = VoterListener(name="CONTROLLER", host="127.0.0.1", port=1)
    other = VoterListener(name="OTHER", host="127.0.0.1", port=1)

    def add(id: int, cluster: str | None, listener: VoterListener) -> Request:
        return AddRaftVoterRequest(
            cluster_id=cluster,
            timeout_ms=2000,
            voter_id=id,
            voter_directory_id=NOBODY,
            listeners=[listener],
        )

    own, wrong = session.cluster_id, "AAAAAAAAAAAAAAAAAAAAAA"
    yield Step(name="AddRaftVoter of another cluster", request=add(9, wrong, at))
    yield Step(name="AddRaftVoter of one that is", request=add(3000, own, at))
    yield Step(name="AddRaftVoter without the listener", request=add(9, own, other))
    yield Step(name="AddRaftVoter of nobody there", request=add(9, own, at))

    def remove(id: int, cluster: str | None) -> Request:
        return RemoveRaftVoterRequest(cluster_id=cluster, voter_id=id, voter_directory_id=NOBODY)

    yield Step(name="RemoveRaftVoter of another cluster", request=remove(9, wrong))
    yield Step(name="RemoveRaftVoter of nobody", request=remove(9, own))
    yield Step(name="RemoveRaftVoter of another directory", request=remove(3000, own))
    update = UpdateRaftVoterRequest(
        cluster_id=own,
        current_leader_epoch=0,
        voter_id=9,
        voter_directory_id=NOBODY,
        listeners=[UpdatedListener(name="CONTROLLER", host="127.0.0.1", port=1)],
        k_raft_version_feature=KRaftVersionFeature(
            min_supported_version=0, max_supported_version=1
        ),
    )
    yield Step(name="UpdateRaftVoter of an old epoch", request=update)
    late = update.replace(current_leader_epoch=1 << 20)
    yield Step(name="UpdateRaftVoter of a later epoch", request=late)
    yield Step(name="UpdateRaftVoter of another cluster", request=update.replace(cluster_id=wrong))


def _refused_by_a_follower(session: Session) -> Iterator[Step]:
    requests: tuple[Request, ...] = (
        CreateTopicsRequest(topics=[_topic("f")], timeout_ms=TIMEOUT),
        DeleteTopicsRequest(topics=[DeleteTopicState(name="t")], timeout_ms=TIMEOUT),
        CreatePartitionsRequest(
            topics=[CreatePartitionsTopic(name="t", count=9, assignments=None)], timeout_ms=TIMEOUT
        ),
        alter("", TOPIC, "t", ("retention.ms", SET, "1")).request,
        ElectLeadersRequest(
            topic_partitions=[TopicPartitions(topic="m", partitions=(0,))], timeout_ms=TIMEOUT
        ),
        UpdateFeaturesRequest(
            feature_updates=[FeatureUpdateKey(feature="group.version", max_version_level=1)]
        ),
        UnregisterBrokerRequest(broker_id=1),
        AllocateProducerIdsRequest(broker_id=1, broker_epoch=session.epochs[1]),
        session.registration(1),
        BrokerHeartbeatRequest(broker_id=1, broker_epoch=1, current_metadata_offset=1),
        RemoveRaftVoterRequest(
            cluster_id=session.cluster_id, voter_id=9, voter_directory_id=NOBODY
        ),
        DescribeClusterRequest(endpoint_type=2),
        metadata_quorum(),
        ListPartitionReassignmentsRequest(),
        describe("", TOPIC, "t", "retention.ms").request,
    )
    for request in requests:
        name = type(request).__name__.removesuffix("Request")
        yield Step(name=f"{name} at a follower", request=request, follower=True)


def _ends() -> Iterator[Step]:
    def delete(name: str, *states: DeleteTopicState) -> Step:
        request = DeleteTopicsRequest(topics=list(states), timeout_ms=TIMEOUT)
        return Step(name=f"DeleteTopics {name}", request=request)

    yield delete("by name", DeleteTopicState(name="t"))
    yield delete("again", DeleteTopicState(name="t"))
    yield delete("of an unknown id", DeleteTopicState(name=None, topic_id=NOBODY))
    yield delete("by neither", DeleteTopicState(name=None))
    yield delete("by both", DeleteTopicState(name="c", topic_id=NOBODY))
    yield delete("of one twice", DeleteTopicState(name="m"), DeleteTopicState(name="m"))
    old = DeleteTopicsRequest(topic_names=("v2", "nothing"), timeout_ms=TIMEOUT)
    yield Step(name="DeleteTopics v5", request=old, version=5)
    yield Step(name="UnregisterBroker", request=UnregisterBrokerRequest(broker_id=2))
    yield Step(name="UnregisterBroker again", request=UnregisterBrokerRequest(broker_id=2))


def odd_registrations(session: Session) -> Iterator[Step]:
    """Yield registrations that look wrong and are taken; none that Kafka's nodes could not read."""
    odd: dict[str, dict[str, object]] = {
        "with an empty rack": {"rack": ""},
        "with a rack": {"rack": "r"},
        "with each feature twice": {"features": session.features * 2},
        "with a nameless feature": {"features": [*session.features, _feature("", 0, 1)]},
        "of incarnation 0": {"incarnation_id": ZERO_UUID},
        "with a previous epoch": {"previous_broker_epoch": 1 << 40},
        "of the largest id": {"broker_id": 2**31 - 1},
        "of a controller's id": {"broker_id": 3001},
    }
    for number, (name, changes) in enumerate(odd.items(), 50):
        directory = UUID(int=(11 << 64) + number)
        request = session.registration(number).replace(log_dirs=(directory,), **changes)
        yield Step(name=f"registration {name}", request=request)


def _feature(name: str, least: int, most: int) -> Feature:
    return Feature(name=name, min_supported_version=least, max_supported_version=most)


def faults() -> Iterator[Step]:
    """Kafka's controller takes each of these for a fault of its own, and resigns."""
    yield alter("operation 9", TOPIC, "c", ("retention.ms", 9, "1"))
    yield alter("APPEND of null", TOPIC, "c", ("cleanup.policy", APPEND, None))
    yield alter("SUBTRACT of null", TOPIC, "c", ("cleanup.policy", SUBTRACT, None))
