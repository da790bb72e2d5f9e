"""Whole answers: the field that is not as expected is named, in what a version has."""

import pytest

from kwire.conform.vocabulary import Deviation
from kwire.conform.whole_answer import (
    POSITIVE,
    expect_whole,
    filled,
    including,
    of_version,
    one_of,
)
from kwire.messages import ListGroupsResponse, OffsetFetchRequest


def groups(*ids: str, state: str = "Stable") -> ListGroupsResponse:
    listed = [{"group_id": id, "group_state": state, "group_type": "classic"} for id in ids]
    return filled(ListGroupsResponse, groups=listed)


def expected(*ids: str) -> dict[str, object]:
    return {"groups": [{"group_id": id, "group_state": "Stable"} for id in ids]}


def came(answer: ListGroupsResponse, whole: dict[str, object], version: int) -> tuple[str, str]:
    with pytest.raises(Deviation) as caught:
        expect_whole(answer, whole, version)
    return caught.value.expected, caught.value.came


def test_the_field_that_differs_is_named_with_its_version() -> None:
    assert came(groups("a"), expected("a"), 5) == (
        "v5: groups[0].group_type ''",
        "v5: groups[0].group_type 'classic'",
    )


def test_a_field_that_the_version_does_not_have_is_not_compared() -> None:
    expect_whole(groups("a"), expected("a"), 4)
    expect_whole(groups("a", state=""), expected("a"), 3)


def test_elements_come_in_any_order_and_each_once() -> None:
    expect_whole(groups("b", "a"), expected("a", "b"), 4)
    assert came(groups("a"), expected("a", "b"), 4)[1] == "v4: groups 'no more of them'"
    assert came(groups("a", "a"), expected("a"), 4)[0] == "v4: groups[1] 'no such element'"


def test_a_list_that_may_have_others_has_none_twice() -> None:
    listed = {"groups": including({"group_id": "a", "group_state": "Stable"})}
    expect_whole(groups("b", "a"), listed, 4)
    assert came(groups("b", "b", "a"), listed, 4)[0] == "v4: groups[1] 'another one'"
    assert came(groups("b"), listed, 4)[0] == "v4: groups[0].group_id 'a'"


def test_the_time_of_throttling_and_texts_are_free() -> None:
    answer = groups("a")
    answer.throttle_time_ms = 7
    expect_whole(answer, expected("a"), 4)


@pytest.mark.parametrize(("value", "text"), [(POSITIVE, "above 0"), (one_of(1, 2), "1 or 2")])
def test_a_value_that_stands_for_several_says_so(value: object, text: str) -> None:
    answer = filled(ListGroupsResponse, error_code=-1)
    assert came(answer, {"error_code": value}, 0)[0] == f"v0: error_code {text}"


def test_a_name_that_no_field_has_is_no_expectation() -> None:
    with pytest.raises(KeyError, match="groups_id"):
        expect_whole(groups("a"), {"groups_id": []}, 4)


def test_a_request_has_only_the_fields_of_its_version() -> None:
    request = filled(
        OffsetFetchRequest,
        group_id="a",
        topics=[{"name": "t", "partition_indexes": (0,)}],
        groups=[{"group_id": "a", "member_id": "m", "topics": [{"name": "t"}]}],
    )
    assert of_version(request, 8) == filled(
        OffsetFetchRequest, topics=[], groups=[{"group_id": "a", "topics": [{"name": "t"}]}]
    )
    assert of_version(request, 7).groups == []
    assert of_version(request, 7).encode(7)
