"""Breaks of `topics/create`."""

from breaking import Break, gives_error
from kwire.messages.a19_create_topics import CreateTopicsRequest

_ACCEPTED = 5
"""The number of the check whose topic is none that is refused."""

BREAKS: dict[int, Break] = {
    number: gives_error(CreateTopicsRequest, 17 if number == _ACCEPTED else 0)
    for number in range(1, 26)
}
