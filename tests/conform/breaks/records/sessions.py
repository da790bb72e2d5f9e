"""Breaks of `records/sessions`."""

from breaking import Break, SeenRequest, changes, gives_error, sets
from kwire.messages.a01_fetch import FetchRequest

_API = FetchRequest


def _later(request: SeenRequest) -> bool:
    return request.number > 1


BREAKS: dict[int, Break] = {
    1: gives_error(_API, 0),
    2: gives_error(_API, 0),
    3: changes(_API, sets("session_id", 77)),
    6: changes(_API, sets("responses", []), only_for=_later),
    7: gives_error(_API, 3, only_for=_later),
    8: gives_error(_API, 0),
    9: changes(_API, sets("session_id", 77)),
    10: gives_error(_API, 0, only_for=_later),
}
