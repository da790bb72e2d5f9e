"""Entries of both sides compared, and the differences that are of no consequence."""

from kwire.migration.operator.comparison import (
    EntryDifference,
    differences,
    harmless_reason,
    is_copied_encrypted,
)
from kwire.migration.operator.entries import EncryptedValue, EntriesByKind, EntryKind, HiddenValue


def only(kind: EntryKind, zookeeper: object, kraft: object) -> list[EntryDifference]:
    """Compare one entry whose fields are these; None for none."""
    sides: list[EntriesByKind] = [
        {kind: {"it": fields} if isinstance(fields, dict) else {}} for fields in (zookeeper, kraft)
    ]
    return list(differences(*sides))


def test_equal_entries_have_no_difference() -> None:
    assert only(EntryKind.TOPIC, {"id": "a"}, {"id": "a"}) == []


def test_an_empty_configuration_is_none() -> None:
    assert only(EntryKind.CONFIG, {}, None) == []


def test_a_field_that_differs_is_named_with_both_values() -> None:
    kind = EntryKind.PARTITION
    (difference,) = only(kind, {"leader": 0, "isr": [0]}, {"leader": 1, "isr": [0]})
    assert difference == EntryDifference(kind=kind, name="it", field="leader", zookeeper=0, kraft=1)


def test_a_missing_and_an_extra_entry_are_told_apart() -> None:
    (missing,) = only(EntryKind.TOPIC, None, {"id": "a"})
    (extra,) = only(EntryKind.TOPIC, {"id": "a"}, None)
    assert (missing.is_missing, missing.is_extra) == (True, False)
    assert (extra.is_missing, extra.is_extra) == (False, True)


def test_the_partition_epoch_may_differ() -> None:
    (difference,) = only(EntryKind.PARTITION, {"partitionEpoch": 3}, {"partitionEpoch": 1})
    assert "version of the znode" in harmless_reason(difference)
    (other,) = only(EntryKind.PARTITION, {"leaderEpoch": 3}, {"leaderEpoch": 1})
    assert harmless_reason(other) == ""


def test_producer_ids_may_be_one_block_ahead() -> None:
    (ahead,) = only(EntryKind.PRODUCER_IDS, {"next": 3000}, {"next": 2000})
    (behind,) = only(EntryKind.PRODUCER_IDS, {"next": 1000}, {"next": 2000})
    assert "1000 ids are skipped" in harmless_reason(ahead)
    assert harmless_reason(behind) == ""


def test_a_password_that_is_encrypted_is_not_compared() -> None:
    (difference,) = only(
        EntryKind.CONFIG,
        {"ssl.key.password": EncryptedValue.of("salt:...,encryptedPassword:...")},
        {"ssl.key.password": HiddenValue.of("secret")},
    )
    assert "--password-encoder-secret" in harmless_reason(difference)
    (missing,) = only(
        EntryKind.CONFIG, {"a": "1"}, {"a": "1", "ssl.key.password": HiddenValue.of("secret")}
    )
    assert harmless_reason(missing) == ""


def test_no_secret_is_in_the_text_of_a_difference() -> None:
    (difference,) = only(
        EntryKind.SCRAM, {"keys": HiddenValue.of("one")}, {"keys": HiddenValue.of("two")}
    )
    assert "(hidden)" in repr(difference)
    assert "one" not in repr(difference).replace("None", "")


def test_a_password_that_was_copied_encrypted_is_known_with_and_without_the_secret() -> None:
    encrypted = "salt:...,encryptedPassword:..."
    for zookeeper in (EncryptedValue.of(encrypted), HiddenValue.decoded("plain", encrypted)):
        (difference,) = only(
            EntryKind.CONFIG,
            {"ssl.key.password": zookeeper},
            {"ssl.key.password": HiddenValue.of(encrypted)},
        )
        assert is_copied_encrypted(difference)
        assert harmless_reason(difference) == ""


def test_a_password_that_was_decoded_is_compared() -> None:
    zookeeper = {"ssl.key.password": HiddenValue.decoded("plain", "encrypted")}
    assert only(EntryKind.CONFIG, zookeeper, {"ssl.key.password": HiddenValue.of("plain")}) == []
