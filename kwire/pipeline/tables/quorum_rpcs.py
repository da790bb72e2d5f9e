"""The rows of the table `quorum` for captures: RPCs of the quorum, or that describe or change it.

KIP-595 (elections), KIP-853 (voter sets), KIP-996 (pre-votes).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kwire.messages.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kwire.messages.registry import api_key
from kwire.pipeline.schemas import arrow_schema_of
from kwire.pipeline.tables.calls import first_error
from kwire.pipeline.tables.pairing import NONE, Pairs
from kwire.text.ids import ZERO_UUID, uuid_text

Json = dict[str, Any]

FETCH = api_key("Fetch")
_OF_REQUEST = ("at", "node_id", "capture", "event")
_NO_DIRECTORY = uuid_text(ZERO_UUID)
_METADATA_LOG = (f'"{uuid_text(METADATA_TOPIC_ID)}"', f'"{METADATA_TOPIC}"')
_parse = msgspec.json.Decoder(Json).decode


def quorum_rows(pairs: Pairs) -> pa.RecordBatch:
    """Return a row of `quorum` for every request of the quorum's APIs, with its response or not.

    1. Of fetches only those of the metadata log are the quorum's: their text names its topic.
    2. Both bodies are parsed; one that is not there, or does not decode, tells nothing.
    3. Who, where and when is the request's; the error is the first one in the response.
    """
    # 1.
    chosen = pairs.select(_of_quorum(pairs))
    # 2.
    api_keys = chosen.of_requests("api_key").to_pylist()
    bodies = (chosen.of_requests("body"), chosen.of_responses("body"))
    rpcs = [
        _EVENTS[key](_message(asked), _message(answered))
        for key, asked, answered in zip(
            api_keys, *(column.to_pylist() for column in bodies), strict=True
        )
    ]
    # 3.
    schema = arrow_schema_of("quorum")
    columns = {name: chosen.of_requests(name) for name in _OF_REQUEST}
    columns["error"] = first_error(chosen.of_responses("errors"))
    columns["source"] = pa.repeat("CAPTURE", len(rpcs))
    for field in schema:
        if field.name not in columns:
            columns[field.name] = pa.array([rpc.get(field.name) for rpc in rpcs], field.type)
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def _of_quorum(pairs: Pairs) -> npt.NDArray[np.bool_]:
    keys = pairs.of_requests("api_key")
    chosen = pc.is_in(keys, _API_KEYS).to_numpy(zero_copy_only=False)
    chosen &= pairs.requests != NONE
    fetches = np.flatnonzero(chosen & pc.equal(keys, FETCH).fill_null(False).to_numpy(False))
    bodies = pairs.rows["body"].take(pa.array(pairs.requests[fetches]))
    by_id, by_name = (pc.match_substring(bodies, text) for text in _METADATA_LOG)
    of_log = pc.or_(by_id, by_name).fill_null(False)
    chosen[fetches] = of_log.to_numpy(zero_copy_only=False)
    return np.asarray(chosen, dtype=bool)


def _vote(asked: Json, answered: Json) -> Json:
    vote, voted = _partition(asked), _partition(answered)
    return {
        "what": "PRE_VOTE" if vote.get("pre_vote") else "VOTE",
        "epoch": vote.get("replica_epoch"),
        "leader_id": voted.get("leader_id"),
        "replica_id": vote.get("replica_id"),
        "directory_id": _known(vote.get("replica_directory_id")),
        "granted": voted.get("vote_granted"),
        "offset": vote.get("last_offset"),
    }


def _begin_epoch(asked: Json, answered: Json) -> Json:
    return {"what": "BEGIN_EPOCH"} | _leader(_partition(asked))


def _end_epoch(asked: Json, answered: Json) -> Json:
    return {"what": "END_EPOCH"} | _leader(_partition(asked))


def _leader(partition: Json) -> Json:
    return {"epoch": partition.get("leader_epoch"), "leader_id": partition.get("leader_id")}


def _fetch(asked: Json, answered: Json) -> Json:
    """Return the columns of a fetch.

    1. The fetcher names itself in `replica_id`; since version 15 in `replica_state` (KIP-903).
    2. A high watermark below 0 is none. The lag is how far the fetch is behind it.
    """
    fetch, fetched = _partition(asked), _partition(answered, "responses")
    # 1.
    replica = asked.get("replica_state") or asked
    # 2.
    offset, mark = fetch.get("fetch_offset"), _mark(fetched)
    return {
        "what": "FETCH",
        "epoch": fetch.get("current_leader_epoch"),
        "leader_id": (fetched.get("current_leader") or {}).get("leader_id"),
        "replica_id": replica.get("replica_id"),
        "directory_id": _known(fetch.get("replica_directory_id")),
        "offset": offset,
        "high_watermark": mark,
        "lag": None if mark is None else _lag(mark, offset),
    }


def _lag(mark: int, offset: int | None) -> int:
    """Return how far an offset is behind; 0 without one. Odd bytes may exceed what int64 holds."""
    return 0 if offset is None else min(max(mark - offset, 0), _MOST)


def _describe(asked: Json, answered: Json) -> Json:
    described = _partition(answered)
    leader_id = described.get("leader_id")
    voters = described.get("current_voters")
    ends = [voter["log_end_offset"] for voter in voters or () if voter["replica_id"] == leader_id]
    return {
        "what": "DESCRIBE",
        **_leader(described),
        "voters": None if voters is None else [_voter(voter) for voter in voters],
        "high_watermark": _mark(described),
        "log_end_offset": ends[0] if ends else None,
    }


def _voter(voter: Json) -> Json:
    """Return one of VOTERS; the response has endpoints of nodes, not of voters."""
    directory_id = _known(voter["replica_directory_id"])
    return {"id": voter["replica_id"], "directory_id": directory_id, "endpoints": []}


def _change(what: str) -> Callable[[Json, Json], Json]:
    """Return the function for requests that change the voter set (KIP-853)."""

    def event(asked: Json, answered: Json) -> Json:
        return {
            "what": what,
            "replica_id": asked.get("voter_id"),
            "directory_id": _known(asked.get("voter_directory_id")),
        }

    return event


_EVENTS: dict[int, Callable[[Json, Json], Json]] = {
    FETCH: _fetch,
    api_key("Vote"): _vote,
    api_key("BeginQuorumEpoch"): _begin_epoch,
    api_key("EndQuorumEpoch"): _end_epoch,
    api_key("DescribeQuorum"): _describe,
    api_key("AddRaftVoter"): _change("ADD_VOTER"),
    api_key("RemoveRaftVoter"): _change("REMOVE_VOTER"),
    api_key("UpdateRaftVoter"): _change("UPDATE_VOTER"),
}
"""The columns of an RPC, from its request and its response, by API key."""

_API_KEYS = pa.array(list(_EVENTS), pa.int32())
_MOST = (1 << 63) - 1


def _message(body: str | None) -> Json:
    return {} if body is None else _parse(body)


def _partition(message: Json, topics: str = "topics") -> Json:
    """Return the only partition in a message of the quorum; an empty dict where there is none."""
    for topic in (message.get(topics) or ())[:1]:
        for partition in (topic["partitions"] or ())[:1]:
            return dict(partition)
    return {}


def _known(directory_id: str | None) -> str | None:
    """Return None for zeros, which older versions and static quorums have."""
    return None if directory_id == _NO_DIRECTORY else directory_id


def _mark(partition: Json) -> int | None:
    """Return the high watermark of a partition in a response; None where it is not known."""
    mark: int | None = partition.get("high_watermark")
    return None if mark is None or mark < 0 else mark
