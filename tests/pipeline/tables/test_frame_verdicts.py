"""Checks of frames: what is wrong with each, in the words of the table."""

import pyarrow as pa

from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.net.frames import encode_response
from kwire.pipeline.decoding import decode_batch
from kwire.pipeline.tables.frame_verdicts import frame_verdicts
from tests.support.pipeline.captured_rows import (
    answer,
    answered,
    asked,
    batch,
    damage,
    notice,
    rpc,
    vote,
)


def test_checks_of_frames_tell_what_is_wrong() -> None:
    rows = [
        asked(1),
        asked(2, frame=vote() + b"more"),
        asked(3, frame=vote()[:30], size=30),
        answered(4),
        answered(5, correlation_id=8),
        answered(6, api_key=53, api_version=1),
        answered(7, frame=None),
        answered(8, api_key=9999),
    ]
    verdicts = frame_verdicts(decode_batch(batch(rows))).to_pylist()
    wrong = {
        (verdict["event"], verdict["check"]): verdict["detail"]
        for verdict in verdicts
        if not verdict["passed"]
    }
    assert wrong.pop((2, "round-trip")) == "4 bytes behind the body"
    assert "VoteRequest v2" in wrong.pop((3, "round-trip"))
    assert wrong.pop((5, "response-version")) == "correlation id 9 answers 8"
    assert "9999" in wrong.pop((8, "round-trip"))
    assert "9999" in wrong.pop((8, "response-version"))
    assert wrong == {}
    assert len(verdicts) == 3 + 4 * 2
    assert all(verdict["detail"] is None for verdict in verdicts if verdict["passed"])
    assert {verdict["log"] for verdict in verdicts} == {None}


def test_a_frame_that_encodes_to_other_bytes_is_told_of() -> None:
    decoded = decode_batch(batch([asked(1)]))
    column = decoded.schema.get_field_index("identical")
    changed = decoded.set_column(column, "identical", pa.array([False]))
    (verdict,) = frame_verdicts(changed).to_pylist()
    assert (verdict["passed"], verdict["detail"]) == (False, "encodes to other bytes")


def test_only_api_versions_may_fall_back_to_version_0() -> None:
    frame = encode_response(ApiVersionsResponse(error_code=35), 0, correlation_id=9)[4:]
    fallen = answered(1, api_key=18, api_version=4, frame=frame, size=len(frame))
    decoded = decode_batch(batch([*rpc(0, ApiVersionsRequest(), None, 4), fallen, answered(2)]))
    assert all(verdict["passed"] for verdict in frame_verdicts(decoded).to_pylist())
    column = decoded.schema.get_field_index("body_version")
    changed = decoded.set_column(column, "body_version", pa.array([4, 0, 0], pa.int32()))
    wrong = [row["detail"] for row in frame_verdicts(changed).to_pylist() if not row["passed"]]
    assert wrong == ["its body is of version 0"]


def test_what_was_not_copied_whole_is_not_judged() -> None:
    rows = [asked(1, frame=None), answered(2, frame=answer(9)[:3]), notice(3), damage()]
    assert frame_verdicts(decode_batch(batch(rows))).num_rows == 0
