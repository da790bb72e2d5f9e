"""The load of the controllers, by API."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f

from kwire.messages.registry import api_keys
from kwire.pipeline.analyses.clusters import CLUSTER, join

NODE = (CLUSTER, "node_id")

OF_CONTROLLERS = api_keys(
    "Vote",
    "BeginQuorumEpoch",
    "EndQuorumEpoch",
    "DescribeQuorum",
    "AlterPartition",
    "FetchSnapshot",
    "BrokerRegistration",
    "BrokerHeartbeat",
    "UnregisterBroker",
    "AllocateProducerIds",
    "ControllerRegistration",
    "AssignReplicasToDirs",
    "AddRaftVoter",
    "RemoveRaftVoter",
    "UpdateRaftVoter",
)
"""Keys of APIs that a node answers as a controller: the quorum's, and those of brokers to it."""


def calls_to_controllers(calls: DataFrame) -> DataFrame:
    """Return the calls to controllers: to nodes that answered one of a controller's own APIs."""
    answered = f.col("api_key").isin(*sorted(OF_CONTROLLERS)) & (f.col("outcome") == "ANSWERED")
    controllers = calls.where(answered & f.col("node_id").isNotNull()).select(*NODE).distinct()
    return join(calls, controllers, NODE, "left_semi")


def controller_load(calls: DataFrame) -> DataFrame:
    """Return a row for every API at every controller, the busiest first.

    calls: how many. share: of the calls to this controller. per_second: on average, from its first
    call to its last. busiest_second: the most that came in one. request_bytes, response_bytes.
    """
    seconds = (
        calls_to_controllers(calls)
        .groupBy(*NODE, "api", f.date_trunc("second", "at").alias("second"))
        .agg(
            f.count(f.lit(1)).alias("calls"),
            f.sum("request_size").alias("request_bytes"),
            f.sum("response_size").alias("response_bytes"),
        )
    )
    by_api = seconds.groupBy(*NODE, "api").agg(
        f.sum("calls").alias("calls"),
        f.max("calls").alias("busiest_second"),
        f.sum("request_bytes").alias("request_bytes"),
        f.sum("response_bytes").alias("response_bytes"),
        f.min("second").alias("first"),
        f.max("second").alias("last"),
    )
    node = Window.partitionBy(*NODE)
    spent = f.max("last").over(node).cast("long") - f.min("first").over(node).cast("long") + 1
    shared = by_api.select(
        *(*NODE, "api", "calls"),
        (f.col("calls") / f.sum("calls").over(node)).alias("share"),
        (f.col("calls") / spent).alias("per_second"),
        *("busiest_second", "request_bytes", "response_bytes"),
    )
    return shared.orderBy(f.desc("calls"), *NODE, "api")
