"""The output of Kafka's tools is compared without ids, addresses and secrets."""

from __future__ import annotations

import pytest

from tests.support.controller.live.tool_runner import ToolOutcome, comparable

TOKEN = "Xz2mQ0pYTPS7cH3yVqU1Ag"
WHOLE = "4W4vQaX8kEbTAW8K9fojpnJAGx+yoqEwu3C1Lq5ncyQXUe7+U/vbUqG8aSlMteQ4W4vQaX8kEbTAW8K9fojpA"


@pytest.mark.parametrize("sign", ["+", "/", "a"])
def test_a_secret_that_begins_like_an_id_is_one_secret(sign: str) -> None:
    hmac = f"{TOKEN}{sign}{WHOLE}"[:86] + "=="
    outcome = ToolOutcome(code=0, printed=f"{TOKEN} {hmac} User:bob\n", failed="")
    assert comparable(outcome) == ["exit 0", "<id> <hmac> User:bob"]
