"""Clients and followers believe that the node knows Fetch up to version 12, and use that."""

from kwire.messages.a18_api_versions import ApiVersionsResponse
from kwire.proxy import Call, Filter

FETCH, LATEST = 1, 12


class CapFetch(Filter):
    def on_api_versions_response(self, response: ApiVersionsResponse, call: Call) -> None:
        for api in response.api_keys:
            if api.api_key == FETCH:
                api.max_version = min(api.max_version, LATEST)
