"""The table `quorum`: what its log says of the metadata quorum, and what was overheard of it.

KIP-595 (elections), KIP-853 (voter sets), KIP-996 (pre-votes).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from kwire import message
from kwire.capture import REQUEST, RESPONSE
from kwire.ids import ZERO_UUID, uuid_text
from pipeline.columns import struct_of
from pipeline.schemas import VOTERS
from pipeline.tables.calls import KEY
from pipeline.tables.messages import parsed
from pipeline.tables.shape import shaped

FETCH, VOTE, BEGIN, END, DESCRIBE, ADD, REMOVE, UPDATE = 1, 52, 53, 54, 55, 80, 81, 82

METADATA_TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
METADATA_TOPIC = "__cluster_metadata"

_CONTROL = {
    "LEADER_CHANGE": "LeaderChangeMessage",
    "VOTERS": "VotersRecord",
    "KRAFT_VERSION": "KRaftVersionRecord",
}


def quorum_of_logs(logged: DataFrame) -> DataFrame:
    """A row for every LeaderChange, Voters and KRaftVersion record."""
    told = {what: f.from_json("body", struct_of(message(name))) for what, name in _CONTROL.items()}
    named = {what: f.when(f.col("name") == name, told[what]) for what, name in _CONTROL.items()}
    rows = logged.where(f.col("name").isin(*_CONTROL.values())).withColumns(named)
    change = f.col("LEADER_CHANGE")
    what = [f.when(f.col("name") == name, f.lit(what)) for what, name in _CONTROL.items()]
    return shaped(
        rows.select(
            *("at", "log", "offset", "epoch"),
            f.when(f.col("snapshot").isNull(), "LOG").otherwise("SNAPSHOT").alias("source"),
            f.coalesce(*what).alias("what"),
            change["leader_id"].alias("leader_id"),
            f.coalesce(_voters(f.col("VOTERS")["voters"]), _electors(change["voters"])).alias(
                "voters"
            ),
            f.transform(change["granting_voters"], lambda one: one["voter_id"]).alias("granting"),
        ),
        "quorum",
    )


def quorum_of_captures(decoded: DataFrame) -> DataFrame:
    """A row for every RPC of the quorum's own, and every one that asks about it or changes it."""
    parts = [
        _votes(decoded),
        _epochs(decoded, BEGIN, "BEGIN_EPOCH", "BeginQuorumEpoch"),
        _epochs(decoded, END, "END_EPOCH", "EndQuorumEpoch"),
        _fetches(decoded),
        _descriptions(decoded),
        _changes(decoded, ADD, "ADD_VOTER", "AddRaftVoter"),
        _changes(decoded, REMOVE, "REMOVE_VOTER", "RemoveRaftVoter"),
        _changes(decoded, UPDATE, "UPDATE_VOTER", "UpdateRaftVoter"),
    ]
    rows = parts[0]
    for more in parts[1:]:
        rows = rows.unionByName(more, allowMissingColumns=True)
    return shaped(rows.withColumn("source", f.lit("CAPTURE")), "quorum")


def _rpcs(decoded: DataFrame, key: int, api: str, wanted: Column | None = None) -> DataFrame:
    """The RPCs of an API: `q` and `r` are request and response, `r` null where there is none."""
    own = decoded.where(f.col("api_key") == key)
    requests = own.where(f.col("kind") == REQUEST)
    if wanted is not None:
        requests = requests.where(wanted)
    asked = requests.select(*KEY, "at", "node_id", parsed(f"{api}Request").alias("q"))
    answers = own.where(f.col("kind") == RESPONSE).select(
        *KEY, f.get("errors", 0)["name"].alias("error"), parsed(f"{api}Response").alias("r")
    )
    return asked.join(answers, list(KEY), "left")


def _partition(side: str, topics: str = "topics") -> Column:
    """The only partition that there is in a message of the quorum's."""
    return f.get(f.get(f.col(side)[topics], 0)["partitions"], 0)


def _votes(decoded: DataFrame) -> DataFrame:
    rpcs = _rpcs(decoded, VOTE, "Vote")
    asked, answered = _partition("q"), _partition("r")
    return rpcs.select(
        *("at", "capture", "event", "node_id", "error"),
        f.when(asked["pre_vote"], "PRE_VOTE").otherwise("VOTE").alias("what"),
        asked["replica_epoch"].alias("epoch"),
        asked["replica_id"].alias("replica_id"),
        _known(asked["replica_directory_id"]).alias("directory_id"),
        asked["last_offset"].alias("offset"),
        answered["leader_id"].alias("leader_id"),
        answered["vote_granted"].alias("granted"),
    )


def _epochs(decoded: DataFrame, key: int, what: str, api: str) -> DataFrame:
    asked = _partition("q")
    return _rpcs(decoded, key, api).select(
        *("at", "capture", "event", "node_id", "error"),
        f.lit(what).alias("what"),
        asked["leader_epoch"].alias("epoch"),
        asked["leader_id"].alias("leader_id"),
    )


def _fetches(decoded: DataFrame) -> DataFrame:
    """Of the metadata log, by voters and observers."""
    body = f.col("body")
    ours = body.contains(f'"{METADATA_TOPIC_ID}"') | body.contains(f'"{METADATA_TOPIC}"')
    rpcs = _rpcs(decoded, FETCH, "Fetch", ours)
    asked, answered = _partition("q"), _partition("r", "responses")
    offset, mark = asked["fetch_offset"], answered["high_watermark"]
    known = mark >= 0
    return rpcs.select(
        *("at", "capture", "event", "node_id", "error"),
        f.lit("FETCH").alias("what"),
        asked["current_leader_epoch"].alias("epoch"),
        f.coalesce("q.replica_state.replica_id", "q.replica_id").alias("replica_id"),
        _known(asked["replica_directory_id"]).alias("directory_id"),
        offset.alias("offset"),
        answered["current_leader"]["leader_id"].alias("leader_id"),
        f.when(known, mark).alias("high_watermark"),
        f.when(known, f.greatest(mark - offset, f.lit(0))).alias("lag"),
    )


def _descriptions(decoded: DataFrame) -> DataFrame:
    told = _partition("r")
    leader = f.filter(told["current_voters"], lambda one: one["replica_id"] == told["leader_id"])
    return _rpcs(decoded, DESCRIBE, "DescribeQuorum").select(
        *("at", "capture", "event", "node_id", "error"),
        f.lit("DESCRIBE").alias("what"),
        told["leader_epoch"].alias("epoch"),
        told["leader_id"].alias("leader_id"),
        told["high_watermark"].alias("high_watermark"),
        f.get(leader, 0)["log_end_offset"].alias("log_end_offset"),
        f.transform(
            told["current_voters"],
            lambda one: f.struct(
                one["replica_id"].alias("id"),
                _known(one["replica_directory_id"]).alias("directory_id"),
                f.array().cast("array<string>").alias("endpoints"),
            ),
        ).alias("voters"),
    )


def _changes(decoded: DataFrame, key: int, what: str, api: str) -> DataFrame:
    asked = f.col("q")
    return _rpcs(decoded, key, api).select(
        *("at", "capture", "event", "node_id", "error"),
        f.lit(what).alias("what"),
        asked["voter_id"].alias("replica_id"),
        _known(asked["voter_directory_id"]).alias("directory_id"),
    )


def _known(directory_id: Column) -> Column:
    """Older versions, and static quorums, have zeros."""
    return f.when(directory_id != uuid_text(ZERO_UUID), directory_id)


def _voters(voters: Column) -> Column:
    """Of a VotersRecord."""
    return f.transform(
        voters,
        lambda one: f.struct(
            one["voter_id"].alias("id"),
            _known(one["voter_directory_id"]).alias("directory_id"),
            f.transform(
                one["endpoints"],
                lambda at: f.concat(at["name"], f.lit("://"), at["host"], f.lit(":"), at["port"]),
            ).alias("endpoints"),
        ),
    ).cast(VOTERS)


def _electors(voters: Column) -> Column:
    """Of a LeaderChange record, which names no endpoints."""
    return f.transform(
        voters,
        lambda one: f.struct(
            one["voter_id"].alias("id"),
            _known(one["voter_directory_id"]).alias("directory_id"),
            f.array().cast("array<string>").alias("endpoints"),
        ),
    ).cast(VOTERS)
