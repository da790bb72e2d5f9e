"""The table `quorum`: events of the metadata quorum, from its log and from recorded RPCs.

KIP-595 (elections), KIP-853 (voter sets), KIP-996 (pre-votes).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from kwire import message
from kwire.capture import REQUEST, RESPONSE
from kwire.messages.index import APIS
from kwire.messages.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kwire.messages.registry import api_key
from kwire.pipeline.columns import struct_of
from kwire.pipeline.schemas import VOTERS
from kwire.pipeline.tables.calls import KEY
from kwire.pipeline.tables.shape import shaped
from kwire.text.ids import ZERO_UUID, uuid_text

_WHAT = {
    (FETCH := api_key("Fetch")): "FETCH",
    (VOTE := api_key("Vote")): "VOTE",
    (BEGIN := api_key("BeginQuorumEpoch")): "BEGIN_EPOCH",
    (END := api_key("EndQuorumEpoch")): "END_EPOCH",
    (DESCRIBE := api_key("DescribeQuorum")): "DESCRIBE",
    (ADD := api_key("AddRaftVoter")): "ADD_VOTER",
    (REMOVE := api_key("RemoveRaftVoter")): "REMOVE_VOTER",
    (UPDATE := api_key("UpdateRaftVoter")): "UPDATE_VOTER",
}
"""The names of the rows of the quorum's APIs, by API key."""

_CONTROL = {
    "LEADER_CHANGE": "LeaderChangeMessage",
    "VOTERS": "VotersRecord",
    "KRAFT_VERSION": "KRaftVersionRecord",
}


def quorum_of_logs(logged: DataFrame) -> DataFrame:
    """Return a row for every LeaderChange, Voters and KRaftVersion record."""
    bodies = {
        what: f.from_json("body", struct_of(message(name))) for what, name in _CONTROL.items()
    }
    by_name = {what: f.when(f.col("name") == name, bodies[what]) for what, name in _CONTROL.items()}
    rows = logged.where(f.col("name").isin(*_CONTROL.values())).withColumns(by_name)
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
            f.transform(change["granting_voters"], lambda voter: voter["voter_id"]).alias(
                "granting"
            ),
        ),
        "quorum",
    )


def quorum_of_captures(decoded: DataFrame) -> DataFrame:
    """Return a row for every RPC of the quorum, or that describes or changes it.

    1. Requests of these APIs, fetches of the metadata log alone, are joined with their responses.
    2. Each is parsed as its own message; a column has the value of the message that has it.
    """
    # 1., 2.
    rows = _rpcs(decoded).select(
        *("at", "capture", "event", "node_id", "error"),
        f.lit("CAPTURE").alias("source"),
        f.coalesce(*(_what(key, what) for key, what in _WHAT.items())).alias("what"),
        *(f.coalesce(*sources).alias(name) for name, sources in _columns().items()),
    )
    mark, offset = f.col("high_watermark"), f.col("offset")
    lag = f.when((mark >= 0) & (f.col("what") == "FETCH"), f.greatest(mark - offset, f.lit(0)))
    known = f.when(mark >= 0, mark)
    return shaped(rows.withColumn("lag", lag).withColumn("high_watermark", known), "quorum")


def _rpcs(decoded: DataFrame) -> DataFrame:
    """Return the RPCs, with the bodies of both sides as JSON in `asked` and `answered`."""
    body, key = f.col("body"), f.col("api_key")
    ours = body.contains(f'"{uuid_text(METADATA_TOPIC_ID)}"') | body.contains(f'"{METADATA_TOPIC}"')
    own = decoded.where(key.isin(*_WHAT))
    requests = own.where((f.col("kind") == REQUEST) & ((key != FETCH) | ours))
    asked = requests.select(*KEY, "at", "node_id", "api_key", body.alias("asked"))
    answers = own.where(f.col("kind") == RESPONSE).select(
        *KEY, f.get("errors", 0)["name"].alias("error"), body.alias("answered")
    )
    return asked.join(answers, list(KEY), "left")


def _what(key: int, what: str) -> Column:
    is_this_api = f.col("api_key") == key
    if key == VOTE:
        what_kind = f.when(_request_partition(VOTE)["pre_vote"], "PRE_VOTE").otherwise(what)
        return f.when(is_this_api, what_kind)
    return f.when(is_this_api, f.lit(what))


def _columns() -> dict[str, list[Column]]:
    """Return the sources of each column, API by API."""
    vote, voted = _request_partition(VOTE), _response_partition(VOTE)
    begin, end = _request_partition(BEGIN), _request_partition(END)
    fetch, fetched = _request_partition(FETCH), _response_partition(FETCH, "responses")
    described = _response_partition(DESCRIBE)
    fetcher = _message("asked", FETCH)
    changes = [_message("asked", key) for key in (ADD, REMOVE, UPDATE)]
    current_voters, leader_id = described["current_voters"], described["leader_id"]
    leader = f.filter(current_voters, lambda voter: voter["replica_id"] == leader_id)
    return {
        "epoch": [
            vote["replica_epoch"],
            begin["leader_epoch"],
            end["leader_epoch"],
            fetch["current_leader_epoch"],
            described["leader_epoch"],
        ],
        "leader_id": [
            voted["leader_id"],
            begin["leader_id"],
            end["leader_id"],
            fetched["current_leader"]["leader_id"],
            described["leader_id"],
        ],
        "replica_id": [
            vote["replica_id"],
            fetcher["replica_state"]["replica_id"],
            fetcher["replica_id"],
            *(change["voter_id"] for change in changes),
        ],
        "directory_id": [
            _known(vote["replica_directory_id"]),
            _known(fetch["replica_directory_id"]),
            *(_known(change["voter_directory_id"]) for change in changes),
        ],
        "granted": [voted["vote_granted"]],
        "voters": [_described(described["current_voters"])],
        "offset": [vote["last_offset"], fetch["fetch_offset"]],
        "high_watermark": [fetched["high_watermark"], described["high_watermark"]],
        "log_end_offset": [f.get(leader, 0)["log_end_offset"]],
    }


def _message(side: str, key: int) -> Column:
    """Return the parsed message; null if the RPC is of another API."""
    name = f"{APIS[key]}{'Request' if side == 'asked' else 'Response'}"
    return f.when(f.col("api_key") == key, f.from_json(side, struct_of(message(name))))


def _request_partition(key: int) -> Column:
    return _partition(_message("asked", key)["topics"])


def _response_partition(key: int, topics: str = "topics") -> Column:
    return _partition(_message("answered", key)[topics])


def _partition(topics: Column) -> Column:
    """Return the only partition in a message of the quorum."""
    return f.get(f.get(topics, 0)["partitions"], 0)


def _described(voters: Column) -> Column:
    """Return VOTERS of a DescribeQuorum response, whose voters have no endpoints beside them."""
    return f.transform(
        voters,
        lambda voter: f.struct(
            voter["replica_id"].alias("id"),
            _known(voter["replica_directory_id"]).alias("directory_id"),
            f.array().cast("array<string>").alias("endpoints"),
        ),
    ).cast(VOTERS)


def _known(directory_id: Column) -> Column:
    """Return null for zeros, which older versions and static quorums have."""
    return f.when(directory_id != uuid_text(ZERO_UUID), directory_id)


def _voters(voters: Column) -> Column:
    """Return VOTERS of a VotersRecord."""
    return f.transform(
        voters,
        lambda voter: f.struct(
            voter["voter_id"].alias("id"),
            _known(voter["voter_directory_id"]).alias("directory_id"),
            f.transform(
                voter["endpoints"],
                lambda at: f.concat(at["name"], f.lit("://"), at["host"], f.lit(":"), at["port"]),
            ).alias("endpoints"),
        ),
    ).cast(VOTERS)


def _electors(voters: Column) -> Column:
    """Return VOTERS of a LeaderChange record, which names no endpoints."""
    return f.transform(
        voters,
        lambda voter: f.struct(
            voter["voter_id"].alias("id"),
            _known(voter["voter_directory_id"]).alias("directory_id"),
            f.array().cast("array<string>").alias("endpoints"),
        ),
    ).cast(VOTERS)
