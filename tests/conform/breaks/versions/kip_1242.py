"""Breaks of `versions/kip-1242`."""

from breaking import Break, gives_error
from kwire.messages.a18_api_versions import ApiVersionsRequest

BREAKS: dict[int, Break] = {
    1: gives_error(ApiVersionsRequest, 129, only_for=5),
    2: gives_error(ApiVersionsRequest, 129, only_for=5),
    3: gives_error(ApiVersionsRequest, 0, only_for=5),
    4: gives_error(ApiVersionsRequest, 0, only_for=5),
    5: gives_error(ApiVersionsRequest, 0, only_for=5),
    6: gives_error(ApiVersionsRequest, 0, only_for=5),
}
