"""Responses that give one error for a whole request (Java: AbstractRequest.getErrorResponse)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kwire.codec.declaration import Request, Response
from kwire.controller.errors import ApiError
from kwire.messages.a19_create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a20_delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from kwire.messages.a32_describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from kwire.messages.a37_create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from kwire.messages.a43_elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from kwire.messages.a44_incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kwire.messages.a57_update_features import UpdateFeaturesRequest, UpdateFeaturesResponse
from kwire.messages.registry import response

ErrorResponse = Callable[[Any, int, ApiError], Response]
"""A function of a request, its version and the error."""


def error_response(request: type[Request]) -> ErrorResponse:
    """Return the function that makes the responses to requests of that type."""
    return _BY_ENTRY.get(request) or _with_one_code(request)


def _with_one_code(request: type[Request]) -> ErrorResponse:
    """Return the function for responses that have an error code of their own."""
    assert request.key is not None, "every request has an API key"
    answer: Any = response(request.key)
    has_message = "error_message" in answer.fields

    def refuse(request: Request, version: int, error: ApiError) -> Response:
        refused: Response = answer(error_code=error.code)
        if has_message:
            refused = refused.replace(error_message=error.message)
        return refused

    return refuse


def _create_topics(request: CreateTopicsRequest, version: int, error: ApiError) -> Response:
    code, message = error.code, error.message
    return CreateTopicsResponse(
        topics=[
            CreatableTopicResult(name=one.name, error_code=code, error_message=message, configs=[])
            for one in request.topics
        ]
    )


def _delete_topics(request: DeleteTopicsRequest, version: int, error: ApiError) -> Response:
    code, message = error.code, error.message
    by_name = [
        DeletableTopicResult(name=name, error_code=code, error_message=message)
        for name in request.topic_names
    ]
    by_state = [
        DeletableTopicResult(
            name=one.name, topic_id=one.topic_id, error_code=code, error_message=message
        )
        for one in request.topics
    ]
    return DeleteTopicsResponse(responses=by_name + by_state)


def _create_partitions(request: CreatePartitionsRequest, version: int, error: ApiError) -> Response:
    return CreatePartitionsResponse(
        results=[
            CreatePartitionsTopicResult(
                name=one.name, error_code=error.code, error_message=error.message
            )
            for one in request.topics
        ]
    )


def _elect_leaders(request: ElectLeadersRequest, version: int, error: ApiError) -> Response:
    """Give the error to every partition; version 0 has it nowhere else."""
    results = [
        ReplicaElectionResult(
            topic=one.topic,
            partition_result=[
                PartitionResult(
                    partition_id=number, error_code=error.code, error_message=error.message
                )
                for number in one.partitions
            ],
        )
        for one in request.topic_partitions or []
    ]
    code = error.code if version > 0 else 0
    return ElectLeadersResponse(error_code=code, replica_election_results=results)


def _alter_configs(
    request: IncrementalAlterConfigsRequest, version: int, error: ApiError
) -> Response:
    return IncrementalAlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                error_code=error.code,
                error_message=error.message,
                resource_type=one.resource_type,
                resource_name=one.resource_name,
            )
            for one in request.resources
        ]
    )


def _describe_configs(request: DescribeConfigsRequest, version: int, error: ApiError) -> Response:
    return DescribeConfigsResponse(
        results=[
            DescribeConfigsResult(
                error_code=error.code,
                error_message=error.message,
                resource_type=one.resource_type,
                resource_name=one.resource_name,
            )
            for one in request.resources
        ]
    )


def _update_features(request: UpdateFeaturesRequest, version: int, error: ApiError) -> Response:
    """Give one error to all updates: they are made together or not at all."""
    return UpdateFeaturesResponse(error_code=error.code, error_message=error.message, results=[])


_BY_ENTRY: Mapping[type[Request], ErrorResponse] = {
    CreateTopicsRequest: _create_topics,
    DeleteTopicsRequest: _delete_topics,
    CreatePartitionsRequest: _create_partitions,
    ElectLeadersRequest: _elect_leaders,
    IncrementalAlterConfigsRequest: _alter_configs,
    DescribeConfigsRequest: _describe_configs,
    UpdateFeaturesRequest: _update_features,
}
"""The functions for responses that have an error code for each topic, resource or partition."""
