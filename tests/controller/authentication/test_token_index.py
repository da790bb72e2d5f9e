"""Delegation tokens are found by HMAC in the image that is asked about; an HMAC is made once."""

from unittest.mock import patch

from kwire.controller.authentication import token_index
from kwire.controller.authentication.token_index import TokenIndex, token_hmac
from kwire.image.delegation_tokens import DelegationTokensImage
from kwire.messages.records.delegation_token import DelegationTokenRecord
from kwire.messages.records.remove_delegation_token import RemoveDelegationTokenRecord

SECRET = "key"


def image_of(*ids: str) -> DelegationTokensImage:
    image = DelegationTokensImage()
    for id in ids:
        image = image.put(DelegationTokenRecord(token_id=id, owner="User:a", requester="User:a"))
    return image


def test_a_token_is_found_in_the_images_that_have_it() -> None:
    index, committed = TokenIndex(SECRET), image_of("a")
    ahead = committed.put(DelegationTokenRecord(token_id="b", owner="User:a", requester="User:a"))
    assert index.id_of(token_hmac(SECRET, "b"), ahead) == "b"
    assert index.id_of(token_hmac(SECRET, "b"), committed) is None
    assert index.id_of(token_hmac(SECRET, "a"), committed) == "a"
    removed = ahead.remove(RemoveDelegationTokenRecord(token_id="b"))
    assert index.id_of(token_hmac(SECRET, "b"), removed) is None
    assert index.id_of(token_hmac(SECRET, "b"), ahead) == "b"
    assert index.id_of(token_hmac("another key", "a"), committed) is None
    assert index.id_of(b"", committed) is None


def test_without_a_secret_there_are_no_tokens() -> None:
    assert TokenIndex(None).id_of(token_hmac(SECRET, "a"), image_of("a")) is None


def test_each_hmac_is_made_once_and_forgotten_with_its_token() -> None:
    ids = [f"id-{number}" for number in range(100)]
    index, image = TokenIndex(SECRET), image_of(*ids)
    with patch.object(token_index, "token_hmac", side_effect=token_hmac) as made:
        for id in ids:
            assert index.id_of(token_hmac(SECRET, id), image) == id
        for number in range(10):
            image = image.put(DelegationTokenRecord(token_id=f"new-{number}"))
            assert index.id_of(b"wrong", image) is None
        assert made.call_count == 110
        assert index.id_of(b"wrong", image_of("id-0")) is None
    assert len(index._ids) == len(index._hmacs) == 1
