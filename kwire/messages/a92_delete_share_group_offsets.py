"""DeleteShareGroupOffsets, API key 92."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, field, int16, int32, nullable, string, uuid


class DeleteShareGroupOffsetsRequestTopic(Group):
    topic_name: str = string


class DeleteShareGroupOffsetsRequest(
    Request, key=92, versions="0", flexible="0+", listeners="broker"
):
    """An admin makes an empty share group forget its offsets of topics (KIP-932)."""

    group_id: str = string
    topics: list[DeleteShareGroupOffsetsRequestTopic] = array(DeleteShareGroupOffsetsRequestTopic)


class DeleteShareGroupOffsetsResponseTopic(Group):
    topic_name: str = string
    topic_id: UUID = uuid
    error_code: int = int16
    error_message: str | None = field(nullable(string), default=None)


class DeleteShareGroupOffsetsResponse(Response, key=92, versions="0", flexible="0+"):
    """The coordinator says for which topics it dropped the offsets (KIP-932)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    error_message: str | None = field(nullable(string), default=None)
    responses: list[DeleteShareGroupOffsetsResponseTopic] = array(
        DeleteShareGroupOffsetsResponseTopic
    )
