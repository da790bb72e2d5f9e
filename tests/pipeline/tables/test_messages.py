"""Rows of `messages`: struct columns have every value that the JSON of a message has."""

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines import PAIRS
from engines.strategies import objects
from kwire.codec.declaration import Message, Request
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.messages.a53_begin_quorum_epoch import BeginQuorumEpochRequest
from kwire.messages.index import APIS
from kwire.pipeline.body import json as body_json
from kwire.pipeline.body import replace_fields, replacements
from kwire.pipeline.decoding import decode_batch
from kwire.pipeline.schemas import arrow_schema_of
from kwire.pipeline.tables.captured import CapturedTables
from kwire.pipeline.tables.messages import parse_structs
from kwire.pipeline.typed import TYPED_APIS, snake
from tests.support.pipeline.captured_rows import asked, batch, damage, notice, rpc

Row = dict[str, Any]

COLUMNS = [name for key in TYPED_APIS for name in (f"{APIS[key]}Request", f"{APIS[key]}Response")]
TYPED_PAIRS = [(cls, version) for cls, version in PAIRS if cls.__name__ in COLUMNS]
ODD = 'a"b\\c\n\t\0é😀 {},:[]'


def column_type(message_name: str) -> pa.DataType:
    return arrow_schema_of("messages").field(snake(message_name)).type


def filled(kind: pa.DataType, least: bool) -> Any:
    """A value with the least, or greatest, number in every field."""
    if pa.types.is_struct(kind):
        return {field.name: filled(field.type, least) for field in kind}
    if pa.types.is_list(kind):
        return [filled(kind.value_type, least), filled(kind.value_type, not least)]
    if pa.types.is_integer(kind):
        return -(1 << kind.bit_width - 1) if least else (1 << kind.bit_width - 1) - 1
    if pa.types.is_boolean(kind):
        return least
    if pa.types.is_binary(kind):
        return None
    assert pa.types.is_string(kind), kind
    return ODD if least else ""


def expected(value: Any, kind: pa.DataType) -> Any:
    """The members of a message that have a column, as a row has them."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        return {field.name: expected(value[field.name], field.type) for field in kind}
    if pa.types.is_list(kind):
        return [expected(element, kind.value_type) for element in value]
    return value


def messages(*rows: Row) -> list[Row]:
    made = list(CapturedTables({"messages"}).take(decode_batch(batch(list(rows)))))
    return [row for _, part in made for row in part.to_pylist()]


@pytest.mark.parametrize("name", COLUMNS)
def test_every_field_of_every_version_is_parsed(name: str) -> None:
    kind = column_type(name)
    values = [filled(kind, True), filled(kind, False), dict.fromkeys(filled(kind, True))]
    bodies = pa.array([json.dumps(value, ensure_ascii=False) for value in values])
    parsed = parse_structs(bodies, kind)
    assert parsed.type == kind
    assert parsed.to_pylist() == values


@pytest.mark.parametrize("name", COLUMNS)
def test_bytes_in_typed_messages_are_record_batches_alone(name: str) -> None:
    """JSON has other bytes as base64, which nobody would decode."""
    assert set(bytes_fields(column_type(name))) <= {"records", "unaligned_records"}


def bytes_fields(struct: pa.DataType) -> Iterator[str]:
    """The names of fields of bytes, at every level."""
    for field in struct:
        kind = field.type.value_type if pa.types.is_list(field.type) else field.type
        if pa.types.is_struct(kind):
            yield from bytes_fields(kind)
        elif pa.types.is_binary(kind):
            yield field.name


@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(st.data(), st.sampled_from(TYPED_PAIRS))
def test_a_struct_has_what_the_message_has(
    data: st.DataObject, pair: tuple[type[Message], int]
) -> None:
    name, kind = pair[0].__name__, column_type(pair[0].__name__)
    drawn = data.draw(st.lists(objects(*pair), min_size=1, max_size=3))
    for message in drawn:
        replace_fields(message, replacements(pair[0]))
    bodies = [body_json(message) for message in drawn]
    parsed = parse_structs(pa.array(bodies), kind).to_pylist()
    assert parsed == [expected(json.loads(body), kind) for body in bodies], name


def test_each_message_is_in_its_own_column_alone() -> None:
    vote, begin = VoteRequest(cluster_id="x"), BeginQuorumEpochRequest(cluster_id="y")
    rows: list[Row] = []
    requests: list[tuple[Request, int]] = [(vote, 2), (ApiVersionsRequest(), 3), (begin, 1)]
    for event, (request, version) in enumerate(requests):
        rows += rpc(event, request, None, version)
    rows += rpc(3, vote, VoteResponse(error_code=3), 2)
    found = messages(notice(9), *rows, damage(), asked(9, frame=None))
    names = [snake(name) for name in COLUMNS]
    assert [[name for name in names if row[name] is not None] for row in found] == [
        ["vote_request"],
        [],
        ["begin_quorum_epoch_request"],
        ["vote_request"],
        ["vote_response"],
    ]
    assert [row["vote_request"] and row["vote_request"]["cluster_id"] for row in found] == [
        *("x", None, None),
        *("x", None),
    ]
    assert found[4]["vote_response"]["error_code"] == 3
    assert [row["event"] for row in found] == [0, 1, 2, 3, 3]


def test_other_messages_are_json() -> None:
    found = messages(*rpc(1, ApiVersionsRequest(), ApiVersionsResponse(error_code=35), 3))
    bodies = [json.loads(row["body"]) for row in found]
    assert [set(body) >= names for body, names in zip(bodies, _FIELDS, strict=True)] == [True] * 2
    assert bodies[1]["error_code"] == 35
    assert messages(asked(1))[0]["body"] is None


_FIELDS = ({"client_software_name"}, {"error_code", "api_keys"})


def test_text_that_is_not_utf8_and_unknown_tags_do_no_harm() -> None:
    request = VoteRequest(cluster_id=b"a\xff".decode("utf-8", "surrogateescape"))
    request.unknown_tags = {77: b"new"}
    (row,) = messages(*rpc(1, request, None, 2))
    assert row["vote_request"]["cluster_id"] == "a\\udcff"


def test_without_bodies_messages_have_no_content() -> None:
    decoded = decode_batch(batch([asked(1), *rpc(2, ApiVersionsRequest(), None, 3)]), bodies=False)
    ((_, rows),) = CapturedTables({"messages"}).take(decoded)
    assert [(row["vote_request"], row["body"]) for row in rows.to_pylist()] == [(None, None)] * 2
