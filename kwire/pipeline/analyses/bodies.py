"""Requests and responses whose bodies are JSON, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from kwire.error_codes import ErrorCode
from kwire.pipeline.analyses.clusters import CLUSTER
from kwire.pipeline.spark_columns import lookup
from kwire.pipeline.tables.calls import KEY

CODES = r'"(?:partition_)?error_code"\s*:\s*(-?\d+)'
"""Error codes at every level of a response. In a text of JSON, such quotes would be escaped."""


def asked_and_answered(messages: DataFrame, apis: Sequence[str]) -> DataFrame:
    """Return a row for every request of these APIs, with what is known of its response.

    at, asked: time and body of the request. answered_at, answer: of the response, null without one.
    error: name of the first error code in it that is not 0; null if there is none.
    """
    known = messages.where(f.col("api").isin(*apis) & f.col("body").isNotNull())
    requests = known.where("kind = 'REQUEST'").select(
        *(*KEY, CLUSTER, "at", "api", "client_id", f.col("body").alias("asked"))
    )
    responses = known.where("kind = 'RESPONSE'").select(
        *KEY, f.col("at").alias("answered_at"), f.col("body").alias("answer")
    )
    return requests.join(responses, list(KEY), "left").withColumn("error", error_in("answer"))


def text_in(body: str, field: str) -> Column:
    """Return a field of a body, as text; null if it is not there."""
    return f.get_json_object(body, f"$.{field}")


def error_in(body: str) -> Column:
    """Return the name of the first error code in a body that is not 0; null if there is none."""
    codes = f.regexp_extract_all(body, f.lit(CODES), f.lit(1))
    code = f.get(f.filter(codes, lambda found: found != "0"), 0).cast("int")
    names = {int(error): error.name for error in ErrorCode}
    name = f.coalesce(lookup(names, code), f.format_string("ERROR %d", code))
    return f.when(code.isNotNull(), name)


def errors_by(rows: DataFrame, by: Sequence[str]) -> DataFrame:
    """Return `errors` for each combination of `by`: names with their numbers, most frequent first.

    Counted before they are collected: a client that fails all night has few names of errors.
    """
    counts = (
        rows.where("error is not null")
        .groupBy(*by, "error")
        .agg(f.count(f.lit(1)).cast("int").alias("count"))
    )
    pairs = f.collect_list(f.struct("count", "error"))
    return counts.groupBy(*by).agg(f.reverse(f.array_sort(pairs)).alias("errors"))


NO_ERRORS = "array<struct<count: int, error: string>>"
"""The type of `errors`, for rows that have none."""
