"""A controller whose log is a list: what it writes is committed at once."""

from random import Random
from typing import Any
from uuid import UUID

from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import MetadataRecord, Request
from kwire.controller.handlers.frames import answer_frame
from kwire.controller.handlers.result import ControllerConfig
from kwire.controller.state_machine.quorum_controller import PendingResponse, QuorumController
from kwire.image import MetadataImage
from kwire.image.partition import PartitionRegistration
from kwire.messages.a19_create_topics import CreatableReplicaAssignment, CreatableTopic
from kwire.messages.a19_create_topics import CreateTopicsRequest as CreateTopics
from kwire.messages.a62_broker_registration import BrokerRegistrationRequest, Feature, Listener
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.metadata_versions import DEFAULT, METADATA_VERSION
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.net.service import ANONYMOUS, RequestContext

CLUSTER = "06B-K3N1TBCNYFgruEVP0Q"
EPOCH_START = 3


class Lab:
    """An active controller, its log, and the time."""

    def __init__(self, *, level: int = DEFAULT, **config: Any) -> None:
        settings: dict[str, Any] = {
            "cluster_id": CLUSTER,
            "node_id": 3000,
            "no_op_interval_ms": 0,
        } | config
        self.controller = QuorumController(ControllerConfig(**settings), Random(0))
        self.now = 1_000_000
        self.log: list[VersionedRecord] = []
        bootstrap = FeatureLevelRecord(name=METADATA_VERSION, feature_level=level)
        records = self.controller.activate(
            1, self.now, EPOCH_START, [VersionedRecord(record=bootstrap, version=0)]
        )
        self.append(records)

    @property
    def end_offset(self) -> int:
        return EPOCH_START + len(self.log)

    @property
    def image(self) -> MetadataImage:
        return self.controller.image

    def append(self, records: tuple[VersionedRecord, ...]) -> None:
        for record in records:
            record.encode()
        self.log += records
        self.controller.commit(self.end_offset)

    def write(self, record: MetadataRecord, version: int = 0) -> None:
        """A record that no handler wrote."""
        written = VersionedRecord(record=record, version=version)
        self.log.append(written)
        self.controller.replay([written], self.end_offset - 1)
        self.controller.ahead = self.controller.committed

    def answer(
        self,
        request: Request,
        version: int | None = None,
        *,
        forwarded: bool = False,
        principal: str = ANONYMOUS,
        by_delegation_token: bool = False,
        client_id: str | None = None,
    ) -> PendingResponse:
        """The answer, not yet appended."""
        last = type(request).versions.last if version is None else version
        return self.controller.handle(
            request,
            RequestContext(
                version=last,
                listener="CONTROLLER",
                peer=("127.0.0.1", 50000),
                forwarded=forwarded,
                principal=principal,
                by_delegation_token=by_delegation_token,
                client_id=client_id,
            ),
            now=self.now,
            end_offset=self.end_offset,
        )

    def ask(
        self,
        request: Request,
        version: int | None = None,
        *,
        forwarded: bool = False,
        principal: str = ANONYMOUS,
        by_delegation_token: bool = False,
        client_id: str | None = None,
    ) -> Any:
        """The response, with what it writes committed; both can be encoded."""
        last = type(request).versions.last if version is None else version
        answer = self.answer(
            request,
            version,
            forwarded=forwarded,
            principal=principal,
            by_delegation_token=by_delegation_token,
            client_id=client_id,
        )
        self.append(answer.records)
        answer_frame(answer.response, last, correlation_id=1)
        return answer.response

    def tick(self, after: int = 0) -> list[VersionedRecord]:
        """All that is due after some milliseconds."""
        self.now += after
        found: list[VersionedRecord] = []
        while records := self.controller.tick(self.now, self.end_offset):
            self.append(records)
            found += records
        return found

    def registration(self, id: int, **changes: Any) -> BrokerRegistrationRequest:
        request = BrokerRegistrationRequest(
            broker_id=id,
            cluster_id=CLUSTER,
            incarnation_id=UUID(int=1000 + id),
            listeners=[Listener(name="PLAINTEXT", host="localhost", port=9092)],
            features=[
                Feature(name=METADATA_VERSION, min_supported_version=7, max_supported_version=30)
            ],
            log_dirs=(UUID(int=2000 + id),),
        )
        return request.replace(**changes)

    def register(self, *ids: int, **changes: Any) -> None:
        for id in ids:
            assert self.ask(self.registration(id, **changes)).error_code == 0

    def heartbeat(self, id: int, **changes: Any) -> Any:
        request = BrokerHeartbeatRequest(
            broker_id=id,
            broker_epoch=self.image.cluster.brokers[id].epoch,
            current_metadata_offset=self.end_offset - 1,
        )
        return self.ask(request.replace(**changes))

    def start(self, *ids: int, **changes: Any) -> None:
        """Register and unfence."""
        self.register(*ids, **changes)
        for id in ids:
            self.heartbeat(id)

    def create(self, name: str, *assignments: tuple[int, ...]) -> UUID:
        """A topic with these replicas."""
        assigned = [
            CreatableReplicaAssignment(partition_index=index, broker_ids=replicas)
            for index, replicas in enumerate(assignments)
        ]
        topic = CreatableTopic(
            name=name, num_partitions=-1, replication_factor=-1, assignments=assigned
        )
        (result,) = self.ask(CreateTopics(topics=[topic])).topics
        assert result.error_code == 0, result.error_message
        created: UUID = result.topic_id
        return created

    def partition(self, name: str, number: int = 0) -> PartitionRegistration:
        topic = self.image.topics.topic(name)
        assert topic is not None
        return topic.partitions[number]
