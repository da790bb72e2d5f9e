"""The differences of the scripted session that docs/engineers/controller.md lists, row by row."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tests.support.controller.live.answer_differences import ABSENT, PRESENT
from tests.support.paths import ROOT

RELEASES = ("4.3.1", "4.4.0")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedDifference:
    """A row of the table: its first cells, and the differences that it stands for.

    paths: regular expressions for `step: path`, with the value of either side, kwire's first.
    """

    step: str
    kwire: str
    kafka: str
    paths: Mapping[str, tuple[object, object]]
    releases: tuple[str, ...] = RELEASES

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """The first cells of the row."""
        return self.step, self.kwire, self.kafka, ", ".join(self.releases)


EMPTY = r"v\d, empty(, at a follower)?"
API_VERSIONS = r"ApiVersions v\d(, empty(, at a follower)?)?"
NEW_KEYS = (
    *("max.decompressed.message.bytes", "remote.copy.lag.bytes", "remote.copy.lag.ms"),
    *("errors.deadletterqueue.group.enable", "errors.deadletterqueue.copy.record.enable"),
    *("errors.deadletterqueue.topic.name", "streams.assignor.name"),
    "streams.rack.aware.assignment.tags",
)
"""Keys of configurations that only Kafka 4.4 has."""

LISTED = (
    ListedDifference(
        step="ApiVersions: DescribeClientQuotas",
        kwire="listed",
        kafka="not listed",
        paths={r"ApiVersions v\d: api_keys\[48\]": (PRESENT, ABSENT)},
    ),
    ListedDifference(
        step="DescribeClientQuotas, DescribeDelegationToken, DescribeUserScramCredentials",
        kwire="answered",
        kafka="connection closed, UNKNOWN_SERVER_ERROR",
        paths={
            rf"DescribeClientQuotas {EMPTY}: ": (ABSENT, PRESENT),
            rf"DescribeClientQuotas {EMPTY}: error_(code|message)": (PRESENT, ABSENT),
            rf"(DescribeDelegationToken {EMPTY}|described: tokens): error_code": (64, -1),
            rf"DescribeUserScramCredentials {EMPTY}: error_code": (0, -1),
        },
    ),
    ListedDifference(
        step="ApiVersions: ApiVersions, UnregisterController, metadata.version, share.version",
        kwire="up to 5, listed, up to 33, up to 2",
        kafka="up to 4, not listed, up to 30, up to 1",
        releases=("4.3.1",),
        paths={
            r"ApiVersions v\d: api_keys\[18\]\.max_version": (5, 4),
            r"ApiVersions v\d: api_keys\[94\]": (PRESENT, ABSENT),
            r"ApiVersions v\d: supported_features\[metadata\.version\]\.max_version": (33, 30),
            r"ApiVersions v4: supported_features\[share\.version\]\.max_version": (2, 1),
        },
    ),
    ListedDifference(
        step="CreateTopics, DescribeConfigs: keys that are new in 4.4",
        kwire="not named",
        kafka="named",
        releases=("4.4.0",),
        paths={
            rf"(CreateTopics|DescribeConfigs|create) .*\.?configs\[{re.escape(key)}\]": (
                ABSENT,
                PRESENT,
            )
            for key in NEW_KEYS
        },
    ),
    ListedDifference(
        step="UnregisterController",
        kwire="answered",
        kafka="closes the connection",
        releases=("4.3.1",),
        paths={
            r"UnregisterController v0, empty(, at a follower)?: ": (ABSENT, PRESENT),
            r"UnregisterController v0, empty(, at a follower)?: error_(code|message)": (
                PRESENT,
                ABSENT,
            ),
        },
    ),
    ListedDifference(
        step="AlterClientQuotas with a value that is not a number, or infinite",
        kwire="INVALID_REQUEST (42)",
        kafka="NONE",
        releases=("4.3.1",),
        paths={
            r"quota: (not a number|an infinite percentage): entries\[.*\]\.error_code": (42, 0),
        },
    ),
    ListedDifference(
        step="CreateAcls with an empty host, or a range of addresses",
        kwire="INVALID_REQUEST (42), UNSUPPORTED_VERSION (35)",
        kafka="NONE",
        releases=("4.3.1",),
        paths={
            r"CreateAcls with no host, with an authorizer: results\[0\]\.error_code": (42, 0),
            r"CreateAcls with .* range .*, with an authorizer: results\[0\]\.error_code": (35, 0),
            r"CreateAcls with a range, with an authorizer: results\[0\]\.error_code": (35, 0),
        },
    ),
    ListedDifference(
        step="DeleteTopics of topics that there are not, at a controller that is not active",
        kwire="NOT_CONTROLLER (41)",
        kafka="UNKNOWN_TOPIC_OR_PARTITION (3), UNKNOWN_TOPIC_ID (100), INVALID_REQUEST (42)",
        paths={
            r"DeleteTopics of .*(unknown name|and another) .*at a follower: .*error_code": (41, 3),
            r"DeleteTopics of an unknown id .*at a follower: .*error_code": (41, 100),
            r"DeleteTopics of one twice and .*at a follower: .*\[.*\]\.error_code": (41, 42),
        },
    ),
    ListedDifference(
        step="a log level that is null",
        kwire="INVALID_CONFIG (40)",
        kafka="UNKNOWN_SERVER_ERROR (-1)",
        paths={r"level of root to None at .*: responses\[.*\]\.error_code": (40, -1)},
    ),
    ListedDifference(
        step="operation 9 on a log level",
        kwire="INVALID_REQUEST (42)",
        kafka="UNKNOWN_SERVER_ERROR (-1)",
        releases=("4.3.1",),
        paths={r"level of .*, operation 9 at .*: responses\[.*\]\.error_code": (42, -1)},
    ),
    ListedDifference(
        step="IncrementalAlterConfigs: operation 9; APPEND or SUBTRACT of null",
        kwire="INVALID_REQUEST (42)",
        kafka="UNKNOWN_SERVER_ERROR (-1)",
        paths={
            r"IncrementalAlterConfigs (operation 9|.* of null): responses\[c\]\.error_code": (
                42,
                -1,
            )
        },
    ),
    ListedDifference(
        step="the request after that",
        kwire="answered",
        kafka="NOT_CONTROLLER (41)",
        paths={
            r"UnregisterBroker after .*: error_code": (102, 41),
        },
    ),
    ListedDifference(
        step="AlterPartition with an unknown leader recovery state",
        kwire="INVALID_REQUEST (42) for the partition",
        kafka="UNKNOWN_SERVER_ERROR (-1) for all",
        paths={
            r"an ISR in an unknown recovery state: error_code": (0, -1),
            r"an ISR in an unknown recovery state: topics\[\]": (PRESENT, ABSENT),
        },
    ),
)
"""In the order of docs/engineers/controller.md, which has the reasons."""

FETCH_SNAPSHOT = ListedDifference(
    step="a wrong epoch, topic, partition, snapshot or position",
    kwire="FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, UNKNOWN_TOPIC_OR_PARTITION,"
    " SNAPSHOT_NOT_FOUND or POSITION_OUT_OF_RANGE for the partition",
    kafka="UNKNOWN_SERVER_ERROR (-1), without a partition",
    paths={
        r"FetchSnapshot .*: error_code": (0, -1),
        r"FetchSnapshot .*: node_endpoints\[the leader\]": (PRESENT, ABSENT),
        r"FetchSnapshot .*: topics\[(__cluster_metadata|t)\]": (PRESENT, ABSENT),
    },
)
"""A row of the table of FetchSnapshot there."""

ALL_LISTED = (*LISTED, FETCH_SNAPSHOT)


def row_of(path: str, values: tuple[object, object], release: str) -> tuple[str, str] | None:
    """Return the step and the regular expression of the row that a difference belongs to."""
    for row in ALL_LISTED:
        for pattern, expected in row.paths.items():
            if release in row.releases and expected == values and re.fullmatch(pattern, path):
                return row.step, pattern
    return None


def documented_rows(heading: str) -> list[tuple[str, ...]]:
    """Return the cells of a table in controller.md by its heading, but for the last column."""
    lines = iter((ROOT / "docs" / "engineers" / "controller.md").read_text().splitlines())
    columns = heading.count("|") - 1
    for line in lines:
        if line == heading:
            break
    next(lines)
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        cells = tuple(cell.strip() for cell in line.strip("|").split(" | "))
        assert len(cells) == columns, line
        rows.append(cells[:-1])
    return rows
