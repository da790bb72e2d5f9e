"""The tables: every column with its type and what it means.

docs/reference/pipeline-tables.md is made from this.

Tables are Delta tables, partitioned by `date` and `hour` (UTC). A column is only ever added:
rows of older files have null in it.
"""

from __future__ import annotations

from functools import cache

import pyarrow as pa

from kwire.pipeline.columns import column, list_of
from kwire.pipeline.typed import message_columns, record_columns

TEXT, INT, LONG, BOOL, BYTES, REAL, DATE = (
    *(pa.string(), pa.int32(), pa.int64(), pa.bool_(), pa.binary(), pa.float64(), pa.date32()),
)
TIME = pa.timestamp("us", "UTC")
TEXTS, INTS = list_of(TEXT), list_of(INT)

ERRORS = list_of(
    pa.struct(
        [
            column("path", TEXT, "of the field, as `topics[0].partitions[1].error_code`"),
            column("code", INT, "as on the wire"),
            column("name", TEXT, "Kafka's name of it; `UNKNOWN(…)` where it has none"),
            column("message", TEXT, "what the node said beside it"),
        ]
    )
)
"""Error codes other than 0, at every level of a response."""

VOTERS = list_of(
    pa.struct(
        [
            column("id", INT, "node id"),
            column("directory_id", TEXT, "null where the quorum is static"),
            column("endpoints", TEXTS, "`LISTENER://host:port`"),
        ]
    )
)
"""A voter set (KIP-853)."""

TOPICS = list_of(
    pa.struct(
        [
            column("topic", TEXT, "its name; null where the message has the id alone"),
            column("topic_id", TEXT, "in Kafka's text; null where the message has the name alone"),
            column("records_bytes", LONG, "of record batches"),
        ]
    )
)
"""Record batches by topic, of a Produce request or a Fetch response."""

WHEN = [
    column("date", DATE, "of `at`, UTC; a partition of the table"),
    column("hour", INT, "of `at`, UTC; a partition of the table"),
]

PARTITIONED = ("date", "hour")
"""The columns that are not in the files of a table: they are in the names of its folders."""

INGEST = column("ingest", TEXT, "id of the ingest that wrote the row, as in `sources`")

CLUSTER_ID = column("cluster_id", TEXT, "the cluster that the row is of")
"""The column that rows get when they are read: that of their recording, or log, in `sources`."""

ADDED = (INGEST.name, *PARTITIONED)
"""The columns that no task makes: they come to its rows when these are written."""

CONNECTION = [
    column("capture", TEXT, "id of the recording"),
    column("connection", LONG, "counts from 1 in one recording"),
    column("event", LONG, "counts from 0 in one recording; a response has its request's"),
]

PARTIES = [
    column("node_id", INT, "the node behind the proxy; null where not known"),
    column("peer_id", INT, "the client, where it is a node itself"),
    column("client", TEXT, "`host:port`"),
    column("upstream", TEXT, "`host:port` of the node"),
    column("client_id", TEXT, "of the request's header"),
]

API = [
    column("api_key", INT, "of the request"),
    column("api", TEXT, "its name; `API 9999` where no schema has the key"),
    column("api_version", INT, "of the request"),
]


def _table(*columns: pa.Field | list[pa.Field]) -> pa.Schema:
    flat: list[pa.Field] = []
    for item in columns:
        flat += item if isinstance(item, list) else [item]
    return pa.schema([*flat, INGEST, *WHEN])


FRAMES = _table(
    CONNECTION,
    column("kind", TEXT, "`REQUEST`, `RESPONSE`, or `NOTICE`: no frame at all"),
    column("at", TIME, "when the head of the frame passed"),
    column("monotonic_ns", LONG, "the same moment on a clock that never steps"),
    PARTIES,
    API,
    column("correlation_id", INT, "as on the wire"),
    column("size", LONG, "bytes on the wire, without the four of the size"),
    column("copied", LONG, "bytes of it that the capture has"),
    column("redaction", TEXT, "`fields`, `frame`, `names`: what was taken out; null: nothing"),
    column("status", TEXT, "`DECODED`, `CUT`, `ABSENT` or `UNDECODABLE`; null for a notice"),
    column("error", TEXT, "why it does not decode, with the byte and the path of the field"),
    column("left_over", LONG, "bytes behind the body, which Kafka ignores"),
    column("body_version", INT, "of the body: 0 where ApiVersions fell back, else api_version"),
    column("identical", BOOL, "whether it encodes to the very bytes again; null unless decoded"),
    column("errors", ERRORS, "error codes other than 0, at every level of a response"),
    column("records_bytes", LONG, "of record batches in it"),
    column("topics", TOPICS, "of a Produce request or a Fetch response: its record batches"),
    column("max_wait_ms", INT, "how long a fetch may wait for records: its latency is no load"),
    column("ending", TEXT, "of a request: `ANSWERED`, `NO_RESPONSE`, `LOST`, `PENDING`"),
    column("problems", TEXTS, "of a request: what the proxy could not do with it"),
    column("notes", TEXTS, "of a request: what filters did to it"),
    column("deeds", TEXTS, "the same by kind: `CHANGED`, `DROPPED`, …"),
    column("notice", TEXT, "of a notice: `OPENED`, `CLOSED`, `REFUSED`, …"),
    column("text", TEXT, "the sentence of a notice"),
    column("file", TEXT, "the capture it was read from"),
)
"""A row for every record of a capture, whatever is wrong with it."""

CALLS = _table(
    CONNECTION,
    column("at", TIME, "of the request; of the response where the request is not there"),
    PARTIES,
    API,
    column("correlation_id", INT, "as on the wire"),
    column("outcome", TEXT, "`ANSWERED`, `NO_RESPONSE`, `LOST`, `PENDING`, `ORPHAN`: no request"),
    column("latency_ms", REAL, "from the request's head to the response's"),
    column("max_wait_ms", INT, "how long a fetch may wait for records: its latency is no load"),
    column("request_size", LONG, "bytes on the wire"),
    column("response_size", LONG, "bytes on the wire"),
    column("records_bytes", LONG, "of record batches, both ways"),
    column("topics", TOPICS, "of a Produce request or a Fetch response: its record batches"),
    column("errors", ERRORS, "error codes other than 0, at every level of the response"),
    column("error", TEXT, "name of the first of them, null where there is none"),
    column("request_status", TEXT, "`status` of its frame; null where it is not there"),
    column("response_status", TEXT, "`status` of its frame; null where it is not there"),
    column("problems", TEXTS, "what the proxy could not do with it"),
    column("notes", TEXTS, "what filters did to it"),
    column("deeds", TEXTS, "the same by kind: `CHANGED`, `DROPPED`, …"),
)
"""A row for every request with its response; either may be missing."""

MESSAGES = _table(
    CONNECTION,
    column("kind", TEXT, "`REQUEST` or `RESPONSE`"),
    column("at", TIME, "when the head of the frame passed"),
    PARTIES,
    API,
    column("body", TEXT, "the message as JSON, where it has no column of its own below"),
    message_columns(),
)
"""A row for every frame that decodes; fields have the names of the declarations."""

RECORDS = _table(
    column("log", TEXT, "`NODE@CLUSTER`; its folder where no meta.properties tells them"),
    column(
        "snapshot", TEXT, "`OFFSET-EPOCH` of the snapshot it stands in; null: in the log itself"
    ),
    column("file", TEXT, "the segment or snapshot it was read from"),
    column("position", LONG, "of its batch in the file, in bytes"),
    column("offset", LONG, "in the log, or in the snapshot"),
    column("epoch", INT, "of the leader that appended it"),
    column("at", TIME, "its timestamp"),
    column("base_offset", LONG, "of its batch"),
    column("last_offset", LONG, "of its batch"),
    column("control", BOOL, "whether it stands in a control batch"),
    column("type", INT, "record type, or type of control record"),
    column("name", TEXT, "`PartitionRecord`, `VotersRecord`; null where no schema has the type"),
    column("version", INT, "of the record"),
    column("key", BYTES, "of a control record"),
    column("value", BYTES, "as it stands in the batch"),
    column("error", TEXT, "why it does not decode"),
    column("identical", BOOL, "whether it encodes to the very bytes again; null unless decoded"),
    record_columns(),
)
"""A row for every record of a metadata log or snapshot; one for a batch that cannot be read."""

QUORUM = _table(
    column("at", TIME, "when"),
    column("source", TEXT, "`LOG`, `SNAPSHOT` or `CAPTURE`"),
    column("what", TEXT, "see below the table"),
    column("epoch", INT, "of the quorum"),
    column("leader_id", INT, "as the source says; -1 where it knows none"),
    column("node_id", INT, "who was asked; null in a log"),
    column("replica_id", INT, "who asked: a candidate, a follower, an observer; or who is changed"),
    column("directory_id", TEXT, "of that replica"),
    column("granted", BOOL, "of a vote"),
    column("voters", VOTERS, "the voter set that is told of"),
    column("granting", INTS, "voters that elected the leader, of a LEADER_CHANGE"),
    column("offset", LONG, "of the record in the log; where a FETCH or a VOTE says its log ends"),
    column("high_watermark", LONG, "as a leader told it"),
    column("log_end_offset", LONG, "of the leader, where known"),
    column("lag", LONG, "how far `offset` is behind the high watermark, not below 0"),
    column("error", TEXT, "name of the error code in the answer"),
    column("log", TEXT, "as in `records`; null in a capture"),
    column("snapshot", TEXT, "as in `records`"),
    column("capture", TEXT, "as in `calls`; null in a log"),
    column("event", LONG, "as in `calls`"),
)
"""A row for every event of the metadata quorum."""

PARTITIONS = _table(
    column("log", TEXT, "as in `records`"),
    column("offset", LONG, "of the record that made it so"),
    column("epoch", INT, "of the leader that appended it"),
    column("at", TIME, "timestamp of the record"),
    column("change", TEXT, "name of the record: `PartitionChangeRecord`, `RemoveTopicRecord`, …"),
    column("topic", TEXT, "null where the log begins behind its TopicRecord"),
    column("topic_id", TEXT, "in Kafka's text"),
    column("partition", INT, "index in the topic"),
    column("leader", INT, "-1: none"),
    column("leader_epoch", INT, "bumped by every change of the leader"),
    column("partition_epoch", INT, "bumped by every change"),
    column("replicas", INTS, "in order of preference"),
    column("isr", INTS, "in-sync replicas"),
    column("adding_replicas", INTS, "by a reassignment"),
    column("removing_replicas", INTS, "by a reassignment"),
    column("elr", INTS, "eligible leader replicas (KIP-966)"),
    column("last_known_elr", INTS, "as the record says"),
    column("recovering", BOOL, "after an unclean election (KIP-704)"),
    column("directories", TEXTS, "one id a replica (KIP-858)"),
)
"""A row for every state a partition was in; null states for one that was removed."""

VERDICTS = _table(
    column("check", TEXT, "see below the table"),
    column("passed", BOOL, "whether it holds"),
    column("detail", TEXT, "what is wrong; null where nothing is"),
    column("at", TIME, "of the frame or the record"),
    CONNECTION,
    column("kind", TEXT, "of the frame"),
    column("node_id", INT, "the node behind the proxy"),
    column("client_id", TEXT, "of the request's header"),
    API,
    column("log", TEXT, "as in `records`; null for a frame"),
    column("snapshot", TEXT, "as in `records`"),
    column("offset", LONG, "in the log"),
    column("epoch", INT, "of the leader that appended it"),
)
"""A row for every thing that was checked, with the columns of its frame or of its record."""

SOURCES = pa.schema(
    [
        column("ingest", TEXT, "id of the ingest, or of the batch of a stream, that brought it"),
        column("ingested_at", TIME, "when it was committed"),
        column(
            "kind",
            TEXT,
            "`CAPTURE`, `LOG`, `DAMAGE` (unreadable bytes), `BATCH` (of a stream), `COMPLETE`"
            " (all tables have the ingest)",
        ),
        column(
            "source",
            TEXT,
            "`capture` of its rows, or `log`; of damage the file, of a batch the query, else the"
            " ingest",
        ),
        column("cluster_id", TEXT, "the cluster it is of; null where nothing tells it"),
        column("node_id", INT, "whose log it is; null for a recording"),
        column("file", TEXT, "where it was read from; of a batch, in JSON, what belongs to it"),
        column("tables", TEXTS, "those that its rows were written to"),
        column("first", LONG, "event, or offset, that it begins with; number of a batch"),
        column("last", LONG, "event, or offset, that it ends with"),
        column("begin", TIME, "time of the first row"),
        column("end", TIME, "time of the last row; of a batch the latest time until then"),
        column("rows", LONG, "frames, or records"),
    ]
)
"""A row for every stretch of a recording, or of a metadata log, that came into the tables.

Between two stretches of one recording there is a gap: a second or more of events that are missing.
"""

TABLES: dict[str, pa.Schema] = {
    "frames": FRAMES,
    "calls": CALLS,
    "messages": MESSAGES,
    "records": RECORDS,
    "quorum": QUORUM,
    "partitions": PARTITIONS,
    "verdicts": VERDICTS,
    "sources": SOURCES,
}
"""Every table by its name, which is also that of its folder."""

OF_CAPTURES = ("frames", "calls", "messages", "quorum", "verdicts")
OF_LOGS = ("records", "quorum", "partitions", "verdicts")
"""The tables that captures, and metadata logs, have rows in."""


def made_columns(table: pa.Schema) -> pa.Schema:
    """Return the columns of a table that tasks make."""
    return pa.schema([field for field in table if field.name not in ADDED])


@cache
def arrow_schema_of(table: str) -> pa.Schema:
    """Return the columns that tasks make for a table."""
    return SOURCES if table == "sources" else made_columns(TABLES[table])


@cache
def file_schema_of(table: str) -> pa.Schema:
    """Return the columns of the files of a table."""
    return pa.schema([field for field in TABLES[table] if field.name not in PARTITIONED])
