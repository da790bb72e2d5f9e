"""StreamsGroupTopologyDescriptionUpdate, API key 93."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, field, int8, int16, int32, nullable, string, struct


class TopologyDescriptionNode(Group):
    name: str = string
    node_type: int = int8
    source_topics: tuple[str, ...] = array(string)
    sink_topic: str | None = field(nullable(string), default=None)
    stores: tuple[str, ...] = array(string)
    successors: tuple[str, ...] = array(string)


class TopologyDescriptionSubtopology(Group):
    subtopology_id: str = string
    nodes: list[TopologyDescriptionNode] = array(TopologyDescriptionNode)


class TopologyDescriptionGlobalStore(Group):
    source: TopologyDescriptionNode = struct(TopologyDescriptionNode)
    processor: TopologyDescriptionNode = struct(TopologyDescriptionNode)


class TopologyDescription(Group):
    subtopologies: list[TopologyDescriptionSubtopology] = array(TopologyDescriptionSubtopology)
    global_stores: list[TopologyDescriptionGlobalStore] = array(TopologyDescriptionGlobalStore)


class StreamsGroupTopologyDescriptionUpdateRequest(
    Request, key=93, versions="0", flexible="0+", listeners="broker"
):
    """A Streams member hands its coordinator the full topology to keep (KIP-1331)."""

    group_id: str = string
    member_id: str = string
    topology_epoch: int = int32
    topology_description: TopologyDescription = struct(TopologyDescription)


class StreamsGroupTopologyDescriptionUpdateResponse(Response, key=93, versions="0", flexible="0+"):
    """The coordinator says whether it has stored the topology (KIP-1331)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    error_message: str | None = field(nullable(string), default=None)
