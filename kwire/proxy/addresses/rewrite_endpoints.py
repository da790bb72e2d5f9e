"""Keeps everybody on the proxy, though the nodes advertise their own addresses.

1. Every address in a message (`addresses.table`) becomes the proxy's for that node; for one
   that is new the message waits until there is a listener.
2. So do the addresses in the metadata log, in Fetch responses and in snapshots, since that is where
   brokers and controllers find each other (KIP-853).
3. ApiVersions offers no version of these messages that kwire cannot read.
"""

from __future__ import annotations

from collections import OrderedDict

from kwire.codec.declaration import Request, Response
from kwire.errors import BatchError
from kwire.messages.a01_fetch import FetchResponse
from kwire.messages.a18_api_versions import ApiVersion, ApiVersionsResponse
from kwire.messages.a59_fetch_snapshot import FetchSnapshotRequest
from kwire.messages.index import APIS
from kwire.messages.registry import request, response
from kwire.proxy.addresses.book import AddressBook
from kwire.proxy.addresses.log_records import METADATA_TOPIC, METADATA_TOPIC_ID
from kwire.proxy.addresses.places import carries
from kwire.proxy.addresses.rewriter import Rewriter
from kwire.proxy.addresses.snapshot import SnapshotPositions, read_snapshot
from kwire.proxy.addresses.table import BY_MESSAGE
from kwire.proxy.filters.filter import Answer, Call, Filter, at
from kwire.proxy.flows.error_response import error_response
from kwire.proxy.flows.flow import Deed
from kwire.proxy.flows.interest import Direction
from kwire.proxy.flows.peers import node_of_request

SNAPSHOTS = 100
"""Readers of snapshots whose positions are remembered."""

UNKNOWN_SERVER_ERROR = -1

_LATEST = {
    key: min(request(key).versions.last, response(key).versions.last)
    for key, name in APIS.items()
    if {f"{name}Request", f"{name}Response"} & BY_MESSAGE.keys()
}


class RewriteEndpoints(Filter):
    """Writes the proxy's addresses over the nodes', and marks the flows in which it has."""

    marks_changes = True

    def __init__(self, book: AddressBook) -> None:
        self._rewriter = Rewriter(book)
        self._snapshots: OrderedDict[tuple[object, ...], SnapshotPositions] = OrderedDict()

    def wants(self, key: int, version: int, direction: Direction) -> bool:
        """What may have an address."""
        return carries(request(key) if direction is Direction.REQUEST else response(key), version)

    async def on_request(self, request: Request, call: Call) -> None:
        """Any that a node tells its address in."""
        if await self._rewriter.message(request, call, node_of_request(request)):
            _mark(call, "addresses in the request rewritten")

    async def on_response(self, response: Response, call: Call) -> None:
        """Any that tells addresses of nodes."""
        if await self._rewriter.message(response, call):
            _mark(call, "addresses in the response rewritten")

    def on_api_versions_response(self, response: ApiVersionsResponse, call: Call) -> None:
        """A later version may have addresses elsewhere."""
        later = [one for one in response.api_keys if one.max_version > _latest(one)]
        for api in later:
            api.max_version = _latest(api)
        response.api_keys = [api for api in response.api_keys if api.min_version <= api.max_version]
        if later:
            _mark(call, "versions limited to those whose addresses can be rewritten")

    @at("12+")
    async def on_fetch_response(self, response: FetchResponse, call: Call) -> None:
        """The metadata log, which is fetched from version 12 on (KIP-595)."""
        for topic in response.responses:
            if topic.topic != METADATA_TOPIC and topic.topic_id != METADATA_TOPIC_ID:
                continue
            for partition in topic.partitions:
                if partition.records:
                    before = partition.records
                    partition.records = await self._log(before, call)
                    if partition.records != before:
                        _mark(call, "addresses in the metadata log rewritten")

    async def _log(self, data: bytes, call: Call) -> bytes:
        try:
            batches, end = await self._rewriter.log(data, call, call.connection.peer)
        except BatchError as error:
            call.note(f"the addresses in its records stay as they are: {error}")
            return data
        return b"".join(batches) + data[end:]

    async def on_fetch_snapshot_request(
        self, request: FetchSnapshotRequest, call: Call
    ) -> Answer | None:
        """Read the leader's snapshot in place of the reader; Kafka asks for one partition."""
        if [len(topic.partitions) for topic in request.topics] != [1]:
            return None
        positions = self._positions(request, call)
        try:
            return Answer(await read_snapshot(request, positions, call, self._rewriter))
        except BatchError as error:
            call.note(f"the snapshot cannot be read: {error}")
            refusal = error_response(request, call.version, UNKNOWN_SERVER_ERROR)
            return None if refusal is None else Answer(refusal)

    def _positions(self, request: FetchSnapshotRequest, call: Call) -> SnapshotPositions:
        wanted = request.topics[0].partitions[0].snapshot_id
        reader = (call.connection.upstream, request.replica_id, wanted.end_offset, wanted.epoch)
        positions = self._snapshots.setdefault(reader, SnapshotPositions())
        self._snapshots.move_to_end(reader)
        if len(self._snapshots) > SNAPSHOTS:
            self._snapshots.popitem(last=False)
        return positions


def _latest(api: ApiVersion) -> int:
    return _LATEST.get(api.api_key, api.max_version)


def _mark(call: Call, note: str) -> None:
    if note not in call.flow.notes:
        call.flow.mark(Deed.REWRITTEN, note)
