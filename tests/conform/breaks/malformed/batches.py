"""Breaks of `malformed/batch`."""

from breaking import Break, closes_on, gives_error, silent_on
from kwire.conform.vocabulary import ConformanceVerdict
from kwire.messages.a00_produce import ProduceRequest

BREAKS: dict[int, Break] = {
    **{number: gives_error(ProduceRequest, 0) for number in range(1, 15)},
    15: gives_error(ProduceRequest, 87, verdict=ConformanceVerdict.DIFFERS),
    16: closes_on(ProduceRequest),
    17: silent_on(ProduceRequest),
}
