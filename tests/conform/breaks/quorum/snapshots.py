"""Breaks of `quorum/kip-853/snapshots`.

Kafka answers UNKNOWN_SERVER_ERROR to every FetchSnapshot that it refuses, since 3.6: those checks
are seen to pass behind a relay that gives the right code.
"""

from breaking import Break, changes, gives_error, sets
from kwire.conform.vocabulary import ConformanceVerdict
from kwire.messages.a59_fetch_snapshot import FetchSnapshotRequest


def _mended(code: int) -> Break:
    return gives_error(FetchSnapshotRequest, code, verdict=ConformanceVerdict.PASS)


_ELSEWHERE = changes(
    FetchSnapshotRequest, sets("topics[0].partitions[0].position", lambda place: place + 1)
)

BREAKS: dict[int, Break] = {
    1: gives_error(FetchSnapshotRequest, 0),
    2: _mended(98),
    3: _mended(98),
    4: _mended(74),
    5: _mended(75),
    6: _mended(3),
    7: _mended(3),
    8: _mended(6),
    9: _mended(99),
    10: _ELSEWHERE,
    11: _ELSEWHERE,
}
