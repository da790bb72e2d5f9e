"""StreamsGroupTopology, a record of a coordinator's topic."""

from __future__ import annotations

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue, Group
from kwire.codec.notation import array, int16, int32, string


class StreamsGroupTopologyKey(CoordinatorKey, key=23, versions="0"):
    """Keys the topology of a streams group by the group's id (KIP-1071)."""

    group_id: str = string


class TopicConfig(Group):
    key: str = string
    value: str = string


class CopartitionGroup(Group):
    source_topics: tuple[int, ...] = array(int16)
    source_topic_regex: tuple[int, ...] = array(int16)
    repartition_source_topics: tuple[int, ...] = array(int16)


class TopicInfo(Group):
    name: str = string
    partitions: int = int32
    replication_factor: int = int16
    topic_configs: list[TopicConfig] = array(TopicConfig)


class Subtopology(Group):
    subtopology_id: str = string
    source_topics: tuple[str, ...] = array(string)
    source_topic_regex: tuple[str, ...] = array(string)
    state_changelog_topics: list[TopicInfo] = array(TopicInfo)
    repartition_sink_topics: tuple[str, ...] = array(string)
    repartition_source_topics: list[TopicInfo] = array(TopicInfo)
    copartition_groups: list[CopartitionGroup] = array(CopartitionGroup)


class StreamsGroupTopologyValue(CoordinatorValue, key=23, versions="0", flexible="0+"):
    """Holds a streams group's subtopologies with their topics (KIP-1071)."""

    epoch: int = int32
    subtopologies: list[Subtopology] = array(Subtopology)
