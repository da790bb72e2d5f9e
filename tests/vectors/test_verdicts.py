"""The record of Kafka's verdicts: Kafka's own classes give it again, and see what is wrong."""

from __future__ import annotations

import msgspec
import pytest

from kwire.messages.a52_vote import VoteRequest
from kwire.vectors.mutants import Mutation
from kwire.vectors.rows import MutantRow, VectorRow, mutant_rows, vector_rows
from vectors import MessageJudge, VectorsError
from vectors.verdicts import FOLDER, confirm, recorded

pytestmark = pytest.mark.java


@pytest.mark.nightly
def test_kafka_agrees_with_every_row_and_the_record_is_the_committed_one() -> None:
    for name, text in recorded().items():
        assert (FOLDER / name).read_text() == text, f"run python -m vectors.verdicts for {name}"


def wrong_rows() -> list[VectorRow | MutantRow]:
    """Return rows of VoteRequest, each with one member that is not what Kafka says."""
    vector = next(vector_rows(VoteRequest, 2, "4.4.0"))
    rows = {(row.mutation, row.field): row for row in mutant_rows(VoteRequest, 2, "4.4.0")}
    longer, after = rows[Mutation.LONGER_VARINT, ""], rows[Mutation.BYTE_AFTER_END, ""]
    refused, twice = rows[Mutation.NULL, "topics"], rows[Mutation.TAG_TWICE, ""]
    change = msgspec.structs.replace
    return [
        change(vector, hex=vector.hex + "00"),
        change(vector, json=vector.json | {"voterId": 7}),
        change(vector, json=vector.json | {"_unknownTags": {"1": ""}}),
        change(longer, rewritten=None),
        change(longer, json=None),
        change(after, left_over=0),
        change(after, accepted=False),
        change(refused, accepted=True),
        change(twice, unwritable=False),
    ]


def test_a_row_that_kafka_does_not_confirm_is_found() -> None:
    with MessageJudge("4.4.0") as judge:
        confirm(judge, [*vector_rows(VoteRequest, 2, ""), *mutant_rows(VoteRequest, 2, "")])
        for row in wrong_rows():
            with pytest.raises(VectorsError, match="differs in"):
                confirm(judge, [row])
