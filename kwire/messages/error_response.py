"""Responses that give one error for a whole request (Java: AbstractRequest.getErrorResponse).

An API has the code beside the whole response, beside each thing that was requested, or both. The
table names the second kind, as the getErrorResponse of Kafka's request classes has it. An array
whose elements carry no error stays empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.fields import ArrayOf, FieldType, Nullable, StructClass, StructOf
from kwire.codec.versions import Versions
from kwire.messages.index import APIS
from kwire.messages.registry import response


class Entries(NamedTuple):
    """An array of the response with an element for each element of an array of the request.

    response: the array's name. request: the other array's name; a path such as `dirs.topics` goes
    through all dirs. copied: fields that an element has from the request's element, `mine=other`
    if the names differ. value: the field that takes an element that is a plain value. fixed: values
    that are not the schema's defaults. nested: arrays in the elements. versions: at which Kafka
    fills the array.
    """

    response: str
    request: str
    copied: str = ""
    value: str = ""
    fixed: Mapping[str, Any] = {}
    nested: tuple[Entries, ...] = ()
    versions: Versions = Versions("0+")


_RESOURCES = Entries("responses", "resources", "resource_type resource_name")
_GROUP_IDS = Entries("groups", "group_ids", value="group_id")
_SHARE_STATE = Entries(
    "results", "topics", "topic_id", nested=(Entries("partitions", "partitions", "partition"),)
)


def _partitions(fixed: Mapping[str, Any] | None = None, **names: Any) -> Entries:
    nested = Entries("partitions", "partitions", "partition_index", fixed=fixed or {})
    return Entries("topics", "topics", "name topic_id", nested=(nested,), **names)


ENTRIES: Mapping[str, tuple[Entries, ...]] = {
    "Produce": (
        Entries(
            "responses",
            "topic_data",
            "name topic_id",
            nested=(
                Entries(
                    "partition_responses", "partition_data", "index", fixed={"base_offset": -1}
                ),
            ),
        ),
    ),
    "Fetch": (
        # Since version 13 the code beside the response is enough: all readers know it.
        Entries(
            "responses",
            "topics",
            "topic",
            nested=(
                Entries(
                    "partitions",
                    "partitions",
                    "partition_index=partition",
                    fixed={"high_watermark": -1},
                ),
            ),
            versions=Versions("0-12"),
        ),
    ),
    "ListOffsets": (_partitions(),),
    "Metadata": (Entries("topics", "topics", "name topic_id"),),
    "OffsetCommit": (_partitions(),),
    "OffsetFetch": (
        Entries(
            "topics",
            "topics",
            "name",
            nested=(
                Entries(
                    "partitions",
                    "partition_indexes",
                    value="partition_index",
                    fixed={"committed_offset": -1},
                ),
            ),
            versions=Versions("0-1"),
        ),
        Entries("groups", "groups", "group_id"),
    ),
    "FindCoordinator": (
        Entries("coordinators", "coordinator_keys", value="key", fixed={"node_id": -1, "port": -1}),
    ),
    "DescribeGroups": (Entries("groups", "groups", value="group_id"),),
    "CreateTopics": (Entries("topics", "topics", "name"),),
    "DeleteTopics": (
        Entries("responses", "topic_names", value="name"),
        Entries("responses", "topics", "name topic_id"),
    ),
    "DeleteRecords": (_partitions({"low_watermark": -1}),),
    "OffsetForLeaderEpoch": (
        Entries(
            "topics", "topics", "topic", nested=(Entries("partitions", "partitions", "partition"),)
        ),
    ),
    "AddPartitionsToTxn": (
        Entries(
            "results_by_topic_v3_and_below",
            "v3_and_below_topics",
            "name",
            nested=(Entries("results_by_partition", "partitions", value="partition_index"),),
        ),
    ),
    "WriteTxnMarkers": (
        Entries(
            "markers",
            "markers",
            "producer_id",
            nested=(
                Entries(
                    "topics",
                    "topics",
                    "name",
                    nested=(Entries("partitions", "partition_indexes", value="partition_index"),),
                ),
            ),
        ),
    ),
    "TxnOffsetCommit": (_partitions(),),
    "CreateAcls": (Entries("results", "creations"),),
    "DeleteAcls": (Entries("filter_results", "filters"),),
    "DescribeConfigs": (_RESOURCES._replace(response="results"),),
    "AlterConfigs": (_RESOURCES,),
    "AlterReplicaLogDirs": (
        Entries(
            "results",
            "dirs.topics",
            "topic_name=name",
            nested=(Entries("partitions", "partitions", value="partition_index"),),
        ),
    ),
    "CreatePartitions": (Entries("results", "topics", "name"),),
    "DeleteGroups": (Entries("results", "groups_names", value="group_id"),),
    "ElectLeaders": (
        Entries(
            "replica_election_results",
            "topic_partitions",
            "topic",
            nested=(Entries("partition_result", "partitions", value="partition_id"),),
        ),
    ),
    "IncrementalAlterConfigs": (_RESOURCES,),
    "AlterPartitionReassignments": (_partitions()._replace(response="responses"),),
    "AlterClientQuotas": (
        Entries(
            "entries",
            "entries",
            nested=(Entries("entity", "entity", "entity_type entity_name"),),
        ),
    ),
    "DescribeUserScramCredentials": (Entries("results", "users", "user=name"),),
    "AlterUserScramCredentials": (
        Entries("results", "deletions", "user=name"),
        Entries("results", "upsertions", "user=name"),
    ),
    "DescribeProducers": (
        Entries(
            "topics",
            "topics",
            "name",
            nested=(Entries("partitions", "partition_indexes", value="partition_index"),),
        ),
    ),
    "DescribeTransactions": (
        Entries("transaction_states", "transactional_ids", value="transactional_id"),
    ),
    "ConsumerGroupDescribe": (_GROUP_IDS,),
    "DescribeTopicPartitions": (Entries("topics", "topics", "name"),),
    "ShareGroupDescribe": (_GROUP_IDS,),
    "InitializeShareGroupState": (_SHARE_STATE,),
    "ReadShareGroupState": (_SHARE_STATE,),
    "WriteShareGroupState": (_SHARE_STATE,),
    "DeleteShareGroupState": (_SHARE_STATE,),
    "ReadShareGroupStateSummary": (_SHARE_STATE,),
    "StreamsGroupDescribe": (_GROUP_IDS,),
    "DescribeShareGroupOffsets": (Entries("groups", "groups", "group_id"),),
}
"""The arrays with errors by API. The other APIs have the code beside the whole response only.

LeaderAndIsr and StopReplica, which Kafka 4 has no more, have both: the code beside the response is
enough for those that send them.
"""

_COPIED = {"Fetch": "session_id"}
"""Fields beside the whole response that repeat the request's."""

_FIXED: Mapping[str, Mapping[str, Any]] = {
    "FindCoordinator": {"node_id": -1, "port": -1},
    "CreateDelegationToken": {
        "principal_type": "User",
        "principal_name": "ANONYMOUS",
        "token_requester_principal_type": "User",
        "token_requester_principal_name": "ANONYMOUS",
        "issue_timestamp_ms": -1,
        "expiry_timestamp_ms": -1,
        "max_timestamp_ms": -1,
    },
    "DescribeClientQuotas": {"entries": None},
}
"""Values beside the whole response that are not the schema's defaults."""

_CODES = ("error_code", "partition_error_code")


class _Error(NamedTuple):
    """The error of a response, and the version in which that is sent."""

    code: int
    message: str | None
    version: int


def error_response(
    request: Request, version: int, code: int, message: str | None = None
) -> Response:
    """Return the response to a request that gives one error for all of it.

    The code has no place in the response if the request is about nothing, and the API has no code
    beside the whole response; see `visible_error_response`.
    """
    return _build(request, _Error(code, message, version))[0]


def visible_error_response(request: Request, version: int, code: int) -> Response | None:
    """Return the error response to a request, None if it has no place for the code."""
    built, has_code = _build(request, _Error(code, None, version))
    return built if has_code else None


def replace_error_codes(message: Group, version: int, code: int) -> bool:
    """Put a code into every error code of a response; return True if there was one."""
    replaced = False
    for name, field in type(message).fields.items():
        if version not in field.versions:
            continue
        if name.endswith("error_code"):
            setattr(message, name, code)
            replaced = True
        value = getattr(message, name)
        for group in value if isinstance(value, list) else (value,):
            if isinstance(group, Group):
                replaced = replace_error_codes(group, version, code) or replaced
    return replaced


def _build(request: Request, error: _Error) -> tuple[Response, bool]:
    """Return the response, and True if the code has a place in it."""
    key = cast(int, type(request).key)
    api = APIS[key]
    built: Response = response(key)()
    has_code = _set_error(built, error)
    _copy(built, request, _COPIED.get(api, ""), error.version)
    _set_fixed(built, _FIXED.get(api, {}), error.version)
    for entries in ENTRIES.get(api, ()):
        has_code |= _add_entries(built, request, entries, error)
    return built, has_code


def _add_entries(built: Group, request: Group, entries: Entries, error: _Error) -> bool:
    field = type(built).fields[entries.response]
    if error.version not in entries.versions or error.version not in field.versions:
        return False
    element_class = _element_class(field.type)
    elements: list[Group] = list(getattr(built, entries.response) or ())
    has_code = False
    for requested in _requested(request, entries.request.split(".")):
        element: Group = element_class()
        has_code |= _set_error(element, error)
        _set_fixed(element, entries.fixed, error.version)
        if entries.value:
            setattr(element, entries.value, requested)
        else:
            _copy(element, requested, entries.copied, error.version)
        for nested in entries.nested:
            has_code |= _add_entries(element, requested, nested, error)
        elements.append(element)
    setattr(built, entries.response, elements)
    return has_code


def _set_error(group: Group, error: _Error) -> bool:
    has_code = False
    for name in _CODES:
        if _has(group, name, error.version):
            setattr(group, name, error.code)
            has_code = True
    # Null, where it may be, makes clients print their own text for the code (Java: ApiError).
    if _has(group, "error_message", error.version) and (
        error.message is not None or _may_be_null(group, "error_message", error.version)
    ):
        setattr(group, "error_message", error.message)  # noqa: B010  # not every group has it
    return has_code


def _set_fixed(group: Group, fixed: Mapping[str, Any], version: int) -> None:
    for name, value in fixed.items():
        if _has(group, name, version):
            setattr(group, name, value)


def _copy(group: Group, requested: Group, names: str, version: int) -> None:
    for pair in names.split():
        mine, _, other = pair.partition("=")
        if _has(group, mine, version) and _has(requested, other or mine, version):
            value = getattr(requested, other or mine)
            if value is not None or _may_be_null(group, mine, version):
                setattr(group, mine, value)


def _requested(request: Group, path: list[str]) -> Iterator[Any]:
    """Yield the elements at a path; a null array has none."""
    for element in getattr(request, path[0]) or ():
        if path[1:]:
            yield from _requested(element, path[1:])
        else:
            yield element


def _has(group: Group, name: str, version: int) -> bool:
    field = type(group).fields.get(name)
    return field is not None and version in field.versions


def _may_be_null(group: Group, name: str, version: int) -> bool:
    kind = type(group).fields[name].type
    return isinstance(kind, Nullable) and version in kind.versions


def _element_class(kind: FieldType) -> StructClass:
    array = kind.inner if isinstance(kind, Nullable) else kind
    assert isinstance(array, ArrayOf), "the table names arrays"
    assert isinstance(array.element, StructOf), "their elements are structs"
    return array.element.cls
