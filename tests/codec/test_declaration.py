"""Messages: versions, defaults, errors, and what a class says of itself."""

import pytest

import kwire
from kwire.codec.versions import Versions
from kwire.errors import DecodeError, EncodeError, UnsupportedVersion
from kwire.messages.a01_fetch import FetchRequest, ReplicaState
from kwire.messages.a10_find_coordinator import FindCoordinatorRequest
from kwire.messages.a22_init_producer_id import InitProducerIdRequest
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, Listener
from kwire.messages.records.no_op import NoOpRecord

REQUEST = AddRaftVoterRequest(
    voter_id=3, listeners=[Listener(name="CONTROLLER", host="localhost", port=9093)]
)


def test_a_class_tells_its_key_versions_and_listeners() -> None:
    assert AddRaftVoterRequest.key == 80
    assert AddRaftVoterRequest.versions == Versions("0-1")
    assert AddRaftVoterRequest.flexible == Versions("0+")
    assert AddRaftVoterRequest.listeners == {"controller", "broker"}
    assert list(InitProducerIdRequest.unstable) == [6]


def test_a_field_may_be_called_key_without_hiding_the_api_key() -> None:
    assert FindCoordinatorRequest.key == 10
    assert FindCoordinatorRequest(key="group").key == "group"


def test_unset_fields_have_kafkas_defaults() -> None:
    request = AddRaftVoterRequest()
    assert request.cluster_id == ""
    assert request.ack_when_committed is True
    assert request.listeners == []
    assert request.listeners is not AddRaftVoterRequest().listeners


def test_replace_copies_with_changes() -> None:
    changed = REQUEST.replace(voter_id=4)
    assert (changed.voter_id, REQUEST.voter_id) == (4, 3)
    assert changed.listeners is REQUEST.listeners


def test_at_gives_a_construct_struct_that_parses_and_builds() -> None:
    struct = AddRaftVoterRequest.at(1)
    assert [field.name for field in struct.subcons][-1] == "ack_when_committed"
    assert struct.parse(struct.build(REQUEST)) == REQUEST


def test_a_version_that_does_not_exist_is_named_with_those_that_do() -> None:
    with pytest.raises(UnsupportedVersion, match="has versions 0-1, not 2"):
        AddRaftVoterRequest.at(2)


def test_a_short_message_names_field_offset_message_and_version() -> None:
    with pytest.raises(DecodeError) as caught:
        AddRaftVoterRequest.decode(REQUEST.encode(1)[:-3], 1)
    assert caught.value.message == "AddRaftVoterRequest"
    assert caught.value.version == 1
    assert caught.value.path == "listeners[0]"
    assert "AddRaftVoterRequest v1 listeners[0] at byte" in str(caught.value)


def test_bytes_behind_the_message_are_an_error_of_decode_but_not_of_decode_from() -> None:
    encoded = REQUEST.encode(1)
    with pytest.raises(DecodeError, match="2 bytes left over"):
        AddRaftVoterRequest.decode(encoded + b"xx", 1)
    assert AddRaftVoterRequest.decode_from(b"x" + encoded + b"xx", 1, 1) == (
        REQUEST,
        len(encoded) + 1,
    )


@pytest.mark.parametrize(
    ("changes", "version", "path", "reason"),
    [
        ({"voter_id": 1 << 40}, 1, "voter_id", "1099511627776 is no int32"),
        ({"listeners": None}, 1, "listeners", "null is not allowed"),
        ({"listeners": [4]}, 1, "listeners[0]", "Listener wanted, not int"),
        ({"cluster_id": 5}, 1, "cluster_id", "5 is not a value of this field"),
        ({"listeners": [Listener(port=-1)]}, 1, "listeners[0].port", "-1 is no uint16"),
        ({"ack_when_committed": False}, 0, "ack_when_committed", "not in this version"),
    ],
)
def test_a_value_that_does_not_fit_names_its_field(
    changes: dict[str, object], version: int, path: str, reason: str
) -> None:
    with pytest.raises(EncodeError) as caught:
        REQUEST.replace(**changes).encode(version)
    assert (caught.value.path, caught.value.reason) == (path, reason)


def test_an_ignorable_field_is_left_out_where_the_version_lacks_it() -> None:
    request = FetchRequest(rack_id="a", max_bytes=1)
    assert FetchRequest.decode(request.encode(10), 10).rack_id == ""
    assert FetchRequest.decode(request.encode(11), 11).rack_id == "a"


def test_a_tagged_struct_is_none_until_it_is_there() -> None:
    request = FetchRequest(replica_state=ReplicaState(replica_id=3))
    assert FetchRequest().replica_state is None
    assert FetchRequest.decode(request.encode(18), 18) == request


def test_tags_are_refused_where_the_version_has_no_tag_section() -> None:
    with pytest.raises(EncodeError, match="tagged fields are not in this version"):
        FetchRequest(unknown_tags={7: b"x"}).encode(11)


def test_a_message_without_fields_keeps_unknown_tags() -> None:
    assert NoOpRecord.decode(bytes.fromhex("01 63 01 aa"), 0).unknown_tags == {99: b"\xaa"}


def test_a_message_is_found_by_its_schema_name() -> None:
    assert kwire.message("AddRaftVoterRequest") is AddRaftVoterRequest
    with pytest.raises(UnsupportedVersion, match="did you mean 'AddRaftVoterRequest'"):
        kwire.message("AddRaftVotersRequest")
