"""Breaks of `answers/topics`."""

from breaking import Break, changes, sets
from kwire.messages.a19_create_topics import CreateTopicsRequest
from kwire.messages.a20_delete_topics import DeleteTopicsRequest
from kwire.messages.a37_create_partitions import CreatePartitionsRequest

BREAKS: dict[int, Break] = {
    1: changes(CreateTopicsRequest, sets("topics[0].configs[*].config_source", 2)),
    2: changes(DeleteTopicsRequest, sets("responses[1].name", "another"), only_for=3),
    3: changes(CreatePartitionsRequest, sets("results[*].name", "another"), only_for=1),
}
