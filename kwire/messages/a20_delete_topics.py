"""DeleteTopics, API key 20."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, field, int16, int32, nullable, since, string, uuid


class DeleteTopicState(Group):
    name: str | None = since(6, nullable(string), default=None)
    topic_id: UUID = since(6, uuid)


class DeleteTopicsRequest(
    Request, key=20, versions="0-6", flexible="4+", listeners="broker controller"
):
    """An admin deletes topics by name or by id (KIP-4)."""

    topics: list[DeleteTopicState] = since(6, array(DeleteTopicState))
    topic_names: tuple[str, ...] = field(array(string), "0-5", ignorable=True)
    timeout_ms: int = int32


class DeletableTopicResult(Group):
    name: str | None = nullable(string, "6+")
    topic_id: UUID = since(6, uuid, ignorable=True)
    error_code: int = int16
    error_message: str | None = since(5, nullable(string), default=None, ignorable=True)


class DeleteTopicsResponse(Response, key=20, versions="0-6", flexible="4+"):
    """The controller says which topics are being deleted, and why others are not (KIP-4)."""

    throttle_time_ms: int = since(1, int32, ignorable=True)
    responses: list[DeletableTopicResult] = array(DeletableTopicResult)
