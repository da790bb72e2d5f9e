"""Ids in the three forms that tools print them in."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.errors import InvalidValue
from kwire.text.ids import ZERO_UUID, parse_uuid, uuid_text

# Directory ids as Kafka's own tool printed them, golden/quorum-replication-bs.txt.
PRINTED = ["AAAAAAAAQACAAAAAAAAwAQ", "2xmGLugudlMdZccNkDGMZQ", "90c6zcZC5DXMN1RLvCY77w"]


@pytest.mark.parametrize("text", PRINTED)
def test_an_id_is_printed_as_kafka_prints_it(text: str) -> None:
    assert uuid_text(parse_uuid(text)) == text


def test_the_three_forms_of_one_id_are_equal() -> None:
    expected = UUID("00000000-0000-4000-8000-000000003001")
    assert parse_uuid("AAAAAAAAQACAAAAAAAAwAQ") == expected
    assert parse_uuid("AAAAAAAAQACAAAAAAAAwAQ==") == expected
    assert parse_uuid("00000000000040008000000000003001") == expected
    assert parse_uuid("00000000-0000-4000-8000-000000003001") == expected


def test_the_zero_id_is_twenty_two_times_the_letter_a() -> None:
    assert uuid_text(ZERO_UUID) == "A" * 22  # golden/quorum-replication-old362-bs.txt


@given(st.uuids())
def test_every_id_survives_all_its_forms(value: UUID) -> None:
    for text in (uuid_text(value), value.hex, value.hex.upper(), str(value)):
        assert parse_uuid(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3001",
        "A" * 21,
        "A" * 23,
        "A" * 21 + "+",
        "A" * 22 + "=",
        "0" * 31,
        "{" + "0" * 32 + "}",
    ],
)
def test_what_is_no_id_is_refused_with_the_forms_that_are(text: str) -> None:
    with pytest.raises(InvalidValue, match=r"22 characters .* 32 hexadecimal digits"):
        parse_uuid(text)


@pytest.mark.parametrize("text", ["2xmGLugudlMdZccNkDGMZR", "2xmGLugudlMdZccNkDGMZX=="])
def test_a_mistyped_last_character_is_not_read_as_another_id(text: str) -> None:
    with pytest.raises(InvalidValue, match=r"more bits .* did you mean '2xmGLugudlMdZccNkDGMZQ'"):
        parse_uuid(text)
