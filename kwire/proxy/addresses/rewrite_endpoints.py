"""The filter that writes the proxy's addresses over those that nodes advertise.

1. Every address in a message (`flows.node_addresses`) becomes the proxy's for that node. If the
   node is new, the message waits until the proxy listens in front of it.
2. So do the addresses in the metadata log, in Fetch responses and in snapshots, since that is where
   brokers and controllers find each other (KIP-853).
3. An address in a request is believed when the response says that the node has accepted it.
4. ApiVersions offers no version of these messages that kwire cannot read.
"""

from __future__ import annotations

from collections import OrderedDict

from kwire.batches import Budget
from kwire.codec.declaration import Request, Response
from kwire.error_codes import ErrorCode
from kwire.errors import BatchError
from kwire.messages.a01_fetch import FetchResponse
from kwire.messages.a18_api_versions import ApiVersion, ApiVersionsResponse
from kwire.messages.a59_fetch_snapshot import FetchSnapshotRequest
from kwire.messages.error_response import visible_error_response
from kwire.messages.index import APIS
from kwire.messages.metadata_topic import metadata_logs
from kwire.messages.registry import request, response
from kwire.proxy.addresses.address_book import AddressBook
from kwire.proxy.addresses.rewriter import AddressRewriter
from kwire.proxy.addresses.snapshot import SnapshotPositions, read_snapshot
from kwire.proxy.filters.filter import Answer, Call, Filter, at
from kwire.proxy.flows.flow import Effect
from kwire.proxy.flows.interest import Direction
from kwire.proxy.flows.node_addresses import (
    FIELDS_BY_MESSAGE,
    may_carry_address,
    node_addresses,
)
from kwire.proxy.flows.peers import node_of_request
from kwire.proxy.flows.walk import has_failures

SNAPSHOTS = 100
"""Most readers of snapshots whose positions are remembered."""

LONGEST_LOG = 9 * 1024 * 1024
"""Bytes of a Fetch response beyond which it has no metadata log, with room for all else in it.

Java: KafkaRaftClient.MAX_FETCH_SIZE_BYTES, 8 MiB.
"""

_LATEST_READABLE = {
    key: min(request(key).versions.last, response(key).versions.last)
    for key, name in APIS.items()
    if {f"{name}Request", f"{name}Response"} & FIELDS_BY_MESSAGE.keys()
}


class RewriteEndpoints(Filter):
    """Rewrites addresses, and marks the flows in which it has done so."""

    marks_changes = True

    def __init__(self, book: AddressBook) -> None:
        self._rewriter = AddressRewriter(book)
        self._snapshots: OrderedDict[tuple[object, ...], SnapshotPositions] = OrderedDict()

    def wants(self, key: int, version: int, direction: Direction) -> bool:
        """True for messages that may carry an address, and for answers to such requests."""
        asks = may_carry_address(request(key), version)
        return asks or (
            direction is Direction.RESPONSE and may_carry_address(response(key), version)
        )

    def must_see(self, key: int, direction: Direction, size: int) -> bool:
        """True, but for long answers to consumers: these catch up, many at once."""
        of_consumer = key == FetchResponse.key and size > LONGEST_LOG
        return direction is Direction.REQUEST or not of_consumer

    async def on_request(self, request: Request, call: Call) -> None:
        """Rewrite the addresses in a request, such as the listeners in a BrokerRegistration."""
        if await self._rewriter.message(request, call, node_of_request(request)):
            _mark(call, "addresses in the request rewritten")

    async def on_response(self, response: Response, call: Call) -> None:
        """Rewrite the addresses in a response, and believe those in a request that it accepts."""
        accepted = call.connection.paired and not has_failures(response)
        if accepted and call.request is not None:
            self._rewriter.accepted(node_addresses(call.request))
        if await self._rewriter.message(response, call):
            _mark(call, "addresses in the response rewritten")

    def on_api_versions_response(self, response: ApiVersionsResponse, call: Call) -> None:
        """Withhold versions that kwire cannot read: they may have addresses in other fields."""
        later = [api for api in response.api_keys if api.max_version > _latest(api)]
        for api in later:
            api.max_version = _latest(api)
        response.api_keys = [api for api in response.api_keys if api.min_version <= api.max_version]
        if later:
            _mark(call, "versions limited to those whose addresses can be rewritten")

    @at("12+")
    async def on_fetch_response(self, response: FetchResponse, call: Call) -> None:
        """Rewrite the metadata log, which nodes fetch with version 12 or later (KIP-595)."""
        logs = metadata_logs(response)
        budget = Budget.of_frame(sum(len(log.records or b"") for log in logs))
        for log in logs:
            before = log.records or b""
            log.records = await self._rewrite_log(before, call, budget)
            if log.records != before:
                _mark(call, "addresses in the metadata log rewritten")

    async def _rewrite_log(self, data: bytes, call: Call, budget: Budget) -> bytes:
        try:
            batches, end = await self._rewriter.log(data, call, call.connection.peer, budget)
        except BatchError as error:
            call.note(f"the addresses in its records stay as they are: {error}")
            return data
        return b"".join(batches) + data[end:]

    async def on_fetch_snapshot_request(
        self, request: FetchSnapshotRequest, call: Call
    ) -> Answer | None:
        """Answer from the leader's snapshot, since rewriting moves the positions in it.

        A request with several partitions passes as it is; Kafka's nodes ask for one.
        """
        if [len(topic.partitions) for topic in request.topics] != [1]:
            return None
        positions = self._positions(request, call)
        try:
            return Answer(await read_snapshot(request, positions, call, self._rewriter))
        except BatchError as error:
            call.note(f"the snapshot cannot be read: {error}")
            refusal = visible_error_response(request, call.version, ErrorCode.UNKNOWN_SERVER_ERROR)
            return None if refusal is None else Answer(refusal)

    def _positions(self, request: FetchSnapshotRequest, call: Call) -> SnapshotPositions:
        # The positions can be found again if they are lost: an unknown reader begins at 0.
        snapshot = request.topics[0].partitions[0].snapshot_id
        reader = (call.connection.upstream, request.replica_id, snapshot.end_offset, snapshot.epoch)
        positions = self._snapshots.setdefault(reader, SnapshotPositions())
        self._snapshots.move_to_end(reader)
        if len(self._snapshots) > SNAPSHOTS:
            self._snapshots.popitem(last=False)
        return positions


def _latest(api: ApiVersion) -> int:
    return _LATEST_READABLE.get(api.api_key, api.max_version)


def _mark(call: Call, note: str) -> None:
    if note not in call.flow.notes:
        call.flow.add_effect(Effect.REWRITTEN, note)
