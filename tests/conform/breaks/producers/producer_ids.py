"""Breaks of `producers/ids`."""

from breaking import Break, changes, gives_error, sets
from kwire.messages.a22_init_producer_id import InitProducerIdRequest

_API = InitProducerIdRequest
_ACCEPTED = gives_error(_API, 0)
_SAME_ID = changes(_API, sets("producer_id", 7))
_SAME_EPOCH = changes(_API, sets("producer_epoch", 0))

BREAKS: dict[int, Break] = {
    1: changes(_API, sets("producer_epoch", 1)),
    2: _SAME_ID,
    6: gives_error(_API, 42),
    **dict.fromkeys((3, 4, 5, 11, 12, 13, 15, 16), _ACCEPTED),
    7: _SAME_EPOCH,
    8: _SAME_ID,
    9: _SAME_EPOCH,
    10: changes(
        _API,
        sets("producer_epoch", lambda epoch: epoch + 1),
        only_for=lambda request: request.number == 3,
    ),
    14: _SAME_ID,
    17: changes(_API, sets("producer_id", 2**40)),
}
