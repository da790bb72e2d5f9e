"""Requests are read as Java reads them, and an answer is never too long to be written."""

from typing import Any

from kwire.controller.handlers.envelope import opened
from kwire.controller.handlers.frames import MAX_MESSAGE, answer_frame, request_frame
from kwire.messages.a19_create_topics import CreatableTopic, CreateTopicsRequest
from kwire.messages.a20_delete_topics import DeleteTopicsRequest
from kwire.messages.a32_describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kwire.messages.a44_incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from kwire.messages.forwarding import envelope
from kwire.net.frames import decode_response, encode_request

INVALID, REPLACED = b"\xf0\x9f a\xff".decode(errors="surrogateescape"), "\ufffd a\ufffd"
"""Bytes that are no UTF-8, and what `new String(bytes, UTF_8)` of Java makes of them."""


def test_what_is_no_utf_8_is_read_as_java_reads_it() -> None:
    creation = CreateTopicsRequest(topics=[CreatableTopic(name=INVALID)])
    deletion = DeleteTopicsRequest(topic_names=("é", INVALID))
    resource = DescribeConfigsResource(resource_name=INVALID, configuration_keys=None)
    description = DescribeConfigsRequest(resources=[resource])
    frames = [
        encode_request(request, version, correlation_id=1, client_id="c")[4:]
        for request, version in ((creation, 7), (deletion, 5), (description, 4))
    ]
    read: list[Any] = [request_frame(frame).body for frame in frames]
    named, several, described = read
    assert named.topics[0].name == REPLACED
    assert several.topic_names == ("é", REPLACED)
    assert described.resources[0].resource_name == REPLACED
    assert described.resources[0].configuration_keys is None
    forwarded = opened(envelope(frames[0], f"User:{INVALID}", "::1"))
    assert (forwarded.request, forwarded.principal) == (named, f"User:{REPLACED}")


def test_a_message_that_quotes_too_much_is_cut() -> None:
    texts = ["x" * 32_768, "short"]
    response = IncrementalAlterConfigsResponse(
        responses=[AlterConfigsResourceResponse(error_message=text) for text in texts]
    )
    read = decode_response(answer_frame(response, 1, correlation_id=1)[4:], 44, 1).body
    assert isinstance(read, IncrementalAlterConfigsResponse)
    assert [result.error_message for result in read.responses] == [
        "x" * MAX_MESSAGE + "…",
        "short",
    ]
