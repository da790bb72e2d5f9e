"""The compiled engine: what it shows, what it leaves to construct, what it refuses to guess."""

import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from construct import Construct, Flag, Renamed

import kwire
from engines import PAIRS, Watched
from kwire.codec import compiler
from kwire.codec.compiler import Compiled
from kwire.codec.constructs import Blob, KafkaArray, NullableStruct, ObjectStruct, Text, Uuid
from kwire.codec.declaration import Data, Group
from kwire.codec.notation import array, binary, boolean, int32, nullable, string, uuid
from kwire.errors import DecodeError, EncodeError
from kwire.messages.a01_fetch import FetchResponse
from kwire.messages.a55_describe_quorum import (
    DescribeQuorumResponse,
    ReplicaState,
    ResponsePartitionData,
    ResponseTopicData,
)
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, Listener
from kwire.messages.headers import RequestHeader

MESSAGE = DescribeQuorumResponse(
    topics=[
        ResponseTopicData(
            topic_name="__cluster_metadata",
            partitions=[ResponsePartitionData(current_voters=[ReplicaState(replica_id=3)])],
        )
    ]
)


def test_the_source_is_a_module_that_runs_by_itself() -> None:
    namespace: dict[str, Any] = {}
    exec(compiler.source(DescribeQuorumResponse.reference(2)), namespace)
    data = namespace["encode"](MESSAGE)
    assert data == DescribeQuorumResponse.reference(2).encode(MESSAGE)
    assert namespace["decode"](b"??" + data, 2) == (MESSAGE, 2 + len(data))


def test_the_source_has_the_shape_that_the_formatter_of_this_project_gives(tmp_path: Path) -> None:
    for cls in kwire.all_messages():
        for version in cls.versions:
            path = tmp_path / f"{cls.__name__}_{version}.py"
            path.write_text(compiler.source(cls.reference(version)))
    ruff = [str(Path(sys.executable).with_name("ruff")), "format", "--check", "--isolated"]
    done = subprocess.run(
        [*ruff, "--line-length=100", str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


class Twin(Group):
    length: str = string


class Odd(Data, versions="0-1", flexible="1+"):
    """Its fields are called like what the code uses for itself."""

    buf: str = string
    p: int = int32
    n: int = int32
    parts: tuple[int, ...] = array(int32)
    length: str | None = nullable(string)
    lengths: bytes = binary
    uuids: tuple[UUID, ...] = array(uuid)
    text_lengths: str = string
    tag_section: list[Twin] = array(Twin)
    range: bool = boolean
    len: str = string
    Struct: str = string
    reference: str = string
    message: str = string


def test_fields_may_be_called_like_anything_in_the_code() -> None:
    odd = Odd(
        buf="b" * 200,
        p=1,
        n=2,
        parts=(3, 4),
        length="l" * 200,
        lengths=b"x" * 200,
        uuids=(UUID(int=5),),
        text_lengths="t" * 300,
        tag_section=[Twin(length="one"), Twin(length="")],
        range=True,
        len="6",
        Struct="7",
        reference="8",
        message="9",
    )
    for version in (0, 1):
        reference = Watched(Odd, version)
        engine = Compiled(reference)
        data = engine.encode(odd)
        assert engine.decode(data) == (odd, len(data))
        assert reference.left == 0
        assert reference.encode(odd) == data


def filled(con: Construct) -> Any:
    """A value with nothing left out: no null, no empty array, no tagged field at its default."""
    match con:
        case Renamed() | NullableStruct():
            return filled(con.subcon)
        case ObjectStruct():
            tagged = () if con.tags is None else con.tags.known.values()
            fields = {field.name: filled(field.subcon) for field in con.subcons}
            return con.cls(**fields, **{tag.name: filled(tag.con) for tag in tagged})
        case KafkaArray():
            return con.make([filled(con.subcon)] * 2)
        case Text():
            return "text"
        case Blob():
            return b"bytes"
        case Uuid():
            return UUID(int=7)
    return True if con is Flag else 3


def test_every_message_and_version_compiles_and_leaves_nothing_to_construct() -> None:
    assert len(PAIRS) > 850
    for cls, version in PAIRS:
        reference = Watched(cls, version)
        engine = Compiled(reference)
        for message in (cls(), filled(cls.at(version))):
            data = engine.encode(message)
            assert engine.decode(data) == (message, len(data)), (cls, version)
            assert reference.left == 0, (cls, version)
            assert reference.encode(message) == data, (cls, version)
            reference.left = 0


def test_good_bytes_and_objects_are_never_left_to_construct() -> None:
    reference = Watched(DescribeQuorumResponse, 2)
    engine = Compiled(reference)
    data = engine.encode(MESSAGE)
    assert engine.decode(memoryview(b"." + data), 1) == (MESSAGE, 1 + len(data))
    assert engine.decode(bytearray(data)) == (MESSAGE, len(data))
    assert reference.left == 0


def test_text_that_is_no_utf8_is_left_to_construct_and_survives() -> None:
    reference = Watched(RequestHeader, 1)
    engine = Compiled(reference)
    data = b"\0\1\0\2\0\0\0\3\0\2\xff\xfe"
    header, _ = engine.decode(data)
    assert header.client_id == "\udcff\udcfe"
    assert engine.encode(header) == data
    assert reference.left == 2


def test_long_strings_arrays_and_records_have_lengths_of_more_bytes() -> None:
    for length in (126, 127, 128, 16_382, 16_383, 16_384, 32_767):
        request = AddRaftVoterRequest(
            cluster_id="c" * length, listeners=[Listener(name="", host="h" * length)] * 130
        )
        data = request.encode(1)
        assert AddRaftVoterRequest.reference(1).encode(request) == data
        assert AddRaftVoterRequest.decode(data, 1) == request


@pytest.mark.parametrize("size", [0, 126, 127, 128, 16_382, 16_383, 16_384, 2_100_000])
def test_records_of_any_size_come_back(size: int) -> None:
    from kwire.messages.a01_fetch import FetchableTopicResponse, PartitionData

    topic = FetchableTopicResponse(partitions=[PartitionData(records=b"r" * size)])
    reference = Watched(FetchResponse, 17)
    engine = Compiled(reference)
    response = FetchResponse(responses=[topic])
    data = engine.encode(response)
    assert engine.decode(data) == (response, len(data))
    assert reference.left == 0


def test_what_looks_like_the_right_struct_is_refused_as_construct_refuses_it() -> None:
    wrong: Any = MESSAGE.replace(topics=[MESSAGE])
    with pytest.raises(EncodeError, match=r"topics\[0\]: ResponseTopicData wanted"):
        Compiled(DescribeQuorumResponse.reference(2)).encode(wrong)


def test_an_error_is_constructs_error() -> None:
    data = MESSAGE.encode(2)
    for end in range(len(data)):
        with pytest.raises(DecodeError) as fast:
            Compiled(DescribeQuorumResponse.reference(2)).decode(data[:end])
        with pytest.raises(DecodeError) as slow:
            DescribeQuorumResponse.reference(2).decode(data[:end])
        assert str(fast.value) == str(slow.value)
        assert fast.value.__context__ is None or fast.value.__suppress_context__
