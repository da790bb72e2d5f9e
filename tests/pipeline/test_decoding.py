"""Decoding of batches: as many rows as before, in their order, whatever is in them."""

from hypothesis import given, settings
from hypothesis import strategies as st

from kwire.pipeline.decoding import DECODED, decode_batch, decode_batches
from kwire.pipeline.frame import STATUSES
from tests.support.pipeline.captured_rows import batch, row, vote

FRAMES = (
    st.none() | st.binary(max_size=60) | st.builds(lambda cut: vote()[:cut], st.integers(0, 99))
)


@settings(max_examples=200)
@given(
    frames=st.lists(
        st.tuples(
            FRAMES,
            st.none() | st.integers(0, 100),
            st.none() | st.integers(-1, 93) | st.just(9999),
            st.none() | st.integers(-1, 20),
            st.sampled_from(["REQUEST", "RESPONSE", "NOTICE"]),
        ),
        max_size=20,
    )
)
def test_no_row_is_lost_and_none_raises(
    frames: list[tuple[bytes | None, int | None, int | None, int | None, str]],
) -> None:
    rows = [
        row(event, frame=frame, size=size, api_key=key, api_version=version, kind=kind)
        for event, (frame, size, key, version, kind) in enumerate(frames)
    ]
    decoded = decode_batch(batch(rows))
    assert decoded.schema == DECODED
    assert decoded.column("event").to_pylist() == list(range(len(rows)))
    for entry in decoded.to_pylist():
        assert (entry["status"] is None) is (entry["kind"] == "NOTICE")
        assert entry["status"] in (None, *STATUSES)
        assert (entry["status"] == "DECODED") is (entry["body"] is not None)
        assert (entry["error"] is None) is (entry["status"] in (None, "DECODED"))


def test_columns_of_the_capture_pass_as_they_are() -> None:
    rows = [row(1, frame=vote(), size=len(vote()), notes=["delayed"]), row(2, kind="NOTICE")]
    (decoded,) = decode_batches(iter([batch(rows)]))
    given, found = batch(rows), decoded.to_pylist()
    for name in ("at", "monotonic_ns", "notes", "deeds", "file", "client", "capture"):
        assert decoded.column(name).equals(given.column(name)), name
    assert [item["api"] for item in found] == ["Vote", "Vote"]
    assert [item["copied"] for item in found] == [len(vote()), None]
