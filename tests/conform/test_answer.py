"""An answer must be whole; one that Kafka would write in other bytes is an answer too."""

from __future__ import annotations

from kwire.conform.answer import read_answer
from kwire.messages.a18_api_versions import ApiVersionsResponse
from kwire.messages.registry import api_key

KEY = api_key("ApiVersions")
HEADER = bytes.fromhex("00000007")
BODY = ApiVersionsResponse().encode(3)
DEFAULT_IN_A_TAG = BODY[:-1] + bytes.fromhex("010108ffffffffffffffff")
"""finalized_features_epoch, tag 1, with its default -1: Kafka leaves it out."""


def test_kafkas_bytes_are_an_answer() -> None:
    reaction = read_answer(HEADER + BODY, KEY, 3, 7)
    assert (reaction.problem, reaction.own_encoding) == ("", "")


def test_a_tagged_field_that_is_written_with_its_default_is_legal() -> None:
    reaction = read_answer(HEADER + DEFAULT_IN_A_TAG, KEY, 3, 7)
    assert reaction.problem == ""
    assert reaction.own_encoding == "010108ffffffffff from byte 11 on, where Kafka has 00"


def test_a_byte_too_many_is_no_answer() -> None:
    assert read_answer(HEADER + BODY + b"\0", KEY, 3, 7).problem == "1 bytes left over at its end"


def test_the_answer_to_another_request_is_none() -> None:
    assert read_answer(HEADER + BODY, KEY, 3, 8).problem == "correlation id 7, not 8"
