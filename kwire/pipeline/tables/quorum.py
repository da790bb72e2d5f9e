"""The table `quorum` for logs: events of the metadata quorum from its control records.

KIP-595 (elections), KIP-853 (voter sets).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from kwire import message
from kwire.pipeline.columns import struct_of
from kwire.pipeline.schemas import VOTERS
from kwire.pipeline.spark_columns import spark_schema, spark_type
from kwire.pipeline.tables.shape import shaped
from kwire.text.ids import ZERO_UUID, uuid_text

_CONTROL = {
    "LEADER_CHANGE": "LeaderChangeMessage",
    "VOTERS": "VotersRecord",
    "KRAFT_VERSION": "KRaftVersionRecord",
}


def quorum_of_logs(logged: DataFrame) -> DataFrame:
    """Return a row for every LeaderChange, Voters and KRaftVersion record."""
    bodies = {
        what: f.from_json("body", spark_schema(struct_of(message(name))))
        for what, name in _CONTROL.items()
    }
    by_name = {what: f.when(f.col("name") == name, bodies[what]) for what, name in _CONTROL.items()}
    rows = logged.where(f.col("name").isin(*_CONTROL.values())).withColumns(by_name)
    change = f.col("LEADER_CHANGE")
    what = [f.when(f.col("name") == name, f.lit(what)) for what, name in _CONTROL.items()]
    return shaped(
        rows.select(
            *("at", "log", "snapshot", "offset", "epoch"),
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
    ).cast(spark_type(VOTERS))


def _electors(voters: Column) -> Column:
    """Return VOTERS of a LeaderChange record, which names no endpoints."""
    return f.transform(
        voters,
        lambda voter: f.struct(
            voter["voter_id"].alias("id"),
            _known(voter["voter_directory_id"]).alias("directory_id"),
            f.array().cast("array<string>").alias("endpoints"),
        ),
    ).cast(spark_type(VOTERS))
