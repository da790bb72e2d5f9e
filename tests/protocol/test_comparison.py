"""Two releases compared: what counts as a difference, and what is the same in other words."""

from kwire.protocol import FieldFact, MessageFact, ProtocolChange, ProtocolSection, compare, facts
from kwire.protocol.field_comparison import field_differences


def field(name: str, type_name: str = "int32", versions: str = "0+", **more: object) -> FieldFact:
    return FieldFact(name=name, type=type_name, versions=versions, **more)  # type: ignore[arg-type]


def message(versions: str, *fields: FieldFact) -> MessageFact:
    return MessageFact(
        name="Sample", kind="data", releases=("1",), versions=versions, fields=fields
    )


def changes(old: MessageFact, new: MessageFact) -> list[tuple[str, str, str | None, str | None]]:
    found = field_differences(old, new)
    return [(item.change.value, item.field, item.old, item.new) for item in found]


def test_a_field_of_a_new_version_was_added() -> None:
    old, new = message("0", field("A")), message("0-1", field("A"), field("B", versions="1+"))
    assert changes(old, new) == [("added", "B", None, "int32, versions 1+")]


def test_versions_that_a_message_lost_are_no_changes_of_its_fields() -> None:
    old = message("0-4", field("A", versions="0+"), field("B", versions="3+"))
    new = message("4", field("A", versions="4+"), field("B", versions="0+"))
    assert changes(old, new) == []


def test_a_field_that_ends_with_a_version_was_changed() -> None:
    old, new = message("0-4", field("A")), message("0-5", field("A", versions="0-4"))
    assert changes(old, new) == [("changed", "A: versions", "0+", "0-4")]


def test_another_name_at_the_same_place_is_the_same_field() -> None:
    old = message("0", field("A"), field("S", "[]X", fields=(field("B"), field("C", "string"))))
    new = message("0", field("Z"), field("S", "[]X", fields=(field("Y"), field("D", "bytes"))))
    assert changes(old, new) == [
        ("changed", "Z: name", "A", "Z"),
        ("changed", "S.Y: name", "B", "Y"),
        ("added", "S.D", None, "bytes, versions 0+"),
        ("removed", "S.C", "string, versions 0+", None),
    ]


def test_type_tag_default_and_nullability_are_told_each() -> None:
    old = message("0", field("A"), field("B", "string"))
    new = message(
        "0",
        field("A", "int64", default="-1"),
        field("B", "string", nullable_versions="0+", tag=3, tagged_versions="0+"),
    )
    assert changes(old, new) == [
        ("changed", "A: type", "int32", "int64"),
        ("changed", "A: default", "none", "-1"),
        ("changed", "B: nullable versions", "none", "0+"),
        ("changed", "B: tagged versions", "none", "0+"),
        ("changed", "B: tag", "none", "3"),
    ]


def test_a_struct_that_came_is_one_difference() -> None:
    old, new = message("0"), message("0", field("S", "[]X", fields=(field("A"),)))
    assert [item[1] for item in changes(old, new)] == ["S"]


def test_the_order_of_releases_does_not_matter() -> None:
    assert compare("3.9.1", "4.4.0") == compare("4.4.0", "3.9.1")


def test_every_release_equals_itself() -> None:
    for release in facts().releases:
        assert compare(release, release).differences == ()


def test_4_4_differs_from_4_3_by_what_its_kips_say() -> None:
    """KIP-1242, KIP-1312, KIP-1319, KIP-1331 and KIP-1357."""
    found = compare("4.3.1", "4.4.0").differences
    added = {(item.section, item.name) for item in found if item.change is ProtocolChange.ADDED}
    assert {
        (ProtocolSection.MESSAGES, "UnregisterController"),
        (ProtocolSection.MESSAGES, "UnregisterControllerRecord"),
        (ProtocolSection.MESSAGES, "StreamsGroupTopologyDescriptionUpdate"),
        (ProtocolSection.ERRORS, "136"),
        (ProtocolSection.FIELDS, "ApiVersionsRequest"),
    } <= added
    versions = {i.name: i.new for i in found if i.section is ProtocolSection.VERSIONS}
    assert versions == {
        "ApiVersions": "0-5",
        "TxnOffsetCommit": "0-6",
        "DeleteGroups": "0-3",
        "StreamsGroupHeartbeat": "0-1",
        "StreamsGroupDescribe": "0-1",
    }
