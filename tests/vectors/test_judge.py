"""Java judges messages made elsewhere, many in one process."""

import pytest

import real_kafka
import vectors

pytestmark = pytest.mark.java


@pytest.mark.parametrize("release", real_kafka.VERSIONS)
def test_java_confirms_its_own_vectors(release: str) -> None:
    known = [v for v in vectors.messages(release) if v.profile in ("MAX", "RANDOM", "SANE")][::5]
    judged = vectors.judge_messages(release, ((v.name, v.version, v.data) for v in known))
    for vector, judgement in zip(known, judged, strict=True):
        assert judgement.exact, vector.name
        assert judgement.json == vector.json
        assert judgement.records == vector.records
        assert judgement.unknown_tags == vector.unknown_tags


def test_a_verdict_is_that_of_the_mutants() -> None:
    known = list(vectors.mutants("4.3.1"))[::40]
    judged = vectors.judge_messages("4.3.1", ((m.name, m.version, m.data) for m in known))
    for mutant, judgement in zip(known, judged, strict=True):
        assert (judgement.error, judgement.remaining) == (mutant.error, mutant.remaining)
        assert judgement.encoded == mutant.encoded
        assert judgement.encode_error == mutant.encode_error


def test_an_over_long_varint_is_accepted_and_written_shorter() -> None:
    # Version 1 of AddRaftVoterRequest; its last byte counts the tagged fields: 0 as two bytes.
    fields = bytes.fromhex("01 00000000 00000000" + "00" * 16 + "01 01")
    with vectors.MessageJudge("4.3.1") as judge:
        assert judge("AddRaftVoterRequest", 1, fields + b"\x00").exact
        longer = judge("AddRaftVoterRequest", 1, fields + b"\x80\x00")
        shorter = judge("AddRaftVoterRequest", 1, fields)
    assert longer.accepted
    assert not longer.exact
    assert longer.encoded == fields + b"\x00"
    assert shorter.error == "BufferUnderflowException"


def test_a_message_the_release_does_not_have_is_an_error() -> None:
    with (
        vectors.MessageJudge("3.9.1") as judge,
        pytest.raises(vectors.VectorsError, match="has no AddRaftVoterRequest in version 1"),
    ):
        judge("AddRaftVoterRequest", 1, b"")


def test_a_judge_that_is_not_open_says_so() -> None:
    with pytest.raises(vectors.VectorsError, match="inside its with block"):
        vectors.BatchJudge("4.3.1")(b"")
