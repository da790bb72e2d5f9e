"""Faults of headers and tagged fields."""

from kwire.messages import ApiVersionsRequest
from kwire.net.frames import ResponseFrame
from tests.support.conform.clients.model_client import Disconnected, ModelClient


class Untagged(ModelClient):
    """Does not bear a tagged field that it does not know."""

    limit = 0.2

    def decoded(self, frame: bytes, key: int, version: int) -> ResponseFrame:
        """Return what a frame has. Raises Disconnected."""
        decoded = super().decoded(frame, key, version)
        if decoded.header.unknown_tags or decoded.body.unknown_tags:
            raise Disconnected("a tagged field")
        return decoded


class Nameless(ModelClient):
    """Has a name that is no word."""

    def software(self) -> ApiVersionsRequest:
        """Return a request for versions."""
        return ApiVersionsRequest(client_software_name="my client", client_software_version="1")


FAULTS = {"client/headers": Untagged, "client/headers/41": Nameless}
