"""Offer Fetch only up to version 12 to clients and followers."""

from kwire.messages.a18_api_versions import ApiVersionsResponse
from kwire.proxy import Call, Filter

FETCH, LATEST = 1, 12


class CapFetch(Filter):
    def on_api_versions_response(self, response: ApiVersionsResponse, call: Call) -> None:
        for api in response.api_keys:
            if api.api_key == FETCH:
                api.max_version = min(api.max_version, LATEST)
