"""Breaks of `versions/kip-511`."""

from breaking import Break, changes, closes_on, gives_error, repairs, sets
from kwire.messages.a18_api_versions import ApiVersionsRequest

BREAKS: dict[int, Break] = {
    1: gives_error(ApiVersionsRequest, 0, only_for=99),
    2: changes(ApiVersionsRequest, sets("api_keys", []), only_for=99),
    3: changes(
        ApiVersionsRequest, sets("api_keys[0].max_version", lambda last: last + 1), only_for=99
    ),
    4: closes_on(ApiVersionsRequest, only_for=lambda request: request.number == 3),
    5: gives_error(ApiVersionsRequest, 0, only_for=lambda request: request.version in (4, 5, 6)),
    6: gives_error(ApiVersionsRequest, 42, only_for=-1),
    7: gives_error(ApiVersionsRequest, 42, only_for=99),
    8: repairs(ApiVersionsRequest, sets("client_software_name", "kwire"), only_for=3),
    9: repairs(ApiVersionsRequest, sets("client_software_version", "1"), only_for=3),
    10: gives_error(ApiVersionsRequest, 42, only_for=3),
    11: gives_error(ApiVersionsRequest, 42, only_for=3),
    12: closes_on(ApiVersionsRequest, only_for=lambda request: request.number == 2),
}
