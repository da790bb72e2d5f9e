"""`kwire request`: any API by hand, JSON in and JSON out, in the form of Kafka's own converters."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kwire.admin.registry import OperationRow, Reach, Route
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.errors import WrongUsage
from kwire.cli.options import argument, flag, option
from kwire.cli.output import Output, OutputForm
from kwire.cli.screen import print_json

if TYPE_CHECKING:
    from kwire.admin.raw_requests import RawAnswer
    from kwire.codec.declaration import Request

SEND_REQUEST = OperationRow(
    "send_request", Route.ANY_NODE, Reach.LISTED, repeatable=False, command="request"
)
"""Not an operation of Java's Admin, and so not among OPERATIONS."""


@asks_cluster(SEND_REQUEST, json_flag=False, offline=("template", "raw"))
def send_request(
    cluster: ClusterOptions,
    output: Output,
    name: str = argument(
        metavar="API", help="Its name or key: Metadata or 3. With --raw: HOST:PORT."
    ),
    body: str = option(
        "--json",
        default="{}",
        metavar="OBJECT|@FILE|-",
        help="The request; what it leaves out has its default. - reads stdin.",
    ),
    version: int | None = option(
        metavar="N", min=0, help="By default the highest that both sides have."
    ),
    node: int | None = option(metavar="ID", help="By default the first that can be reached."),
    template: bool = flag("--template", help="Print a request with defaults, and send nothing."),
    hexadecimal: bool = flag(
        "--hex", help="Also print both frames, with correlation id 1, on stderr."
    ),
    raw: str | None = option(
        metavar="HEX", help="Send these bytes to HOST:PORT, and nothing before them."
    ),
) -> None:
    """Send one request of any API, and print the response. Nothing is asked twice.

    Exit code 1 if the response has an error code anywhere. -o json adds the node, the version and
    a list of these codes. A read-only profile refuses APIs that may change the cluster.

    With --raw bytes are sent as they are, sizes of frames included, without ApiVersions and login.
    What comes is printed in hex and decoded. Exit code 1 if nothing comes.

    \b
    kwire request Metadata --json '{"topics": null}' --bootstrap-server localhost:9092
    kwire request DescribeProducers --template
    kwire request --raw 0000000a00120000000000010000 localhost:9092
    """
    if raw is not None:
        from kwire.cli.admin.raw_request import send_raw

        send_raw(cluster, raw, name)
        return
    api = _api(name)
    if template:
        print_json(_template(api, version))
        return
    if output.form is OutputForm.NAME:
        raise WrongUsage("-o name is for lists; this prints one object: take -o json.")
    from kwire.admin.raw_requests import send_request
    from kwire.codec.json_form import from_json
    from kwire.codec.json_template import completed

    value = _object(body)

    def build(chosen: int) -> Request:
        return from_json(api, completed(api, value, chosen), chosen)

    if version is not None:
        build(version)  # what is wrong with it is said before anything is connected to
    answer = cluster.run(
        lambda admin: send_request(admin.driver, api, build, version=version, node_id=node),
    )
    if hexadecimal:
        _print_frames(answer)
    _show(answer, output)


def _api(name: str) -> type[Request]:
    """Return the request of an API by name or key. Raises WrongUsage."""
    from kwire.messages import registry
    from kwire.text.untrusted import whole_number

    key = whole_number(name, bits=15)
    try:
        if key is None:
            key = registry.api_key(name.removesuffix("Request"))
        return registry.request(key)
    except registry.UnknownMessage as error:
        raise WrongUsage(f"{error}; `kwire protocol show --all` names all.") from error


def _template(api: type[Request], version: int | None) -> dict[str, Any]:
    from kwire.codec import json_template

    return json_template.template(api, api.versions.last if version is None else version)


def _object(text: str) -> dict[str, Any]:
    """Return the JSON object in the option. Raises WrongUsage."""
    from kwire.errors import InvalidValue
    from kwire.text.untrusted import read_text

    source = "--json"
    if text == "-":
        source, text = "stdin", _stdin_text()
    elif text.startswith("@"):
        source, text = text[1:], read_text(Path(text[1:]), InvalidValue)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WrongUsage(f"{source} is no JSON: {error}.") from error
    if not isinstance(value, dict):
        raise WrongUsage(f'{source} is no JSON object: write {{"member": value}}.')
    return value


def _stdin_text() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise WrongUsage(f"stdin is no text in UTF-8: {error.reason}.") from error


def _print_frames(answer: RawAnswer) -> None:
    from kwire.net.frames import encode_request, encode_response

    request = encode_request(
        answer.request, answer.version, correlation_id=1, client_id="kwire-admin"
    )
    sys.stderr.write(f"request  {request.hex()}\n")
    if answer.response is not None:
        response = encode_response(answer.response, answer.version, correlation_id=1)
        sys.stderr.write(f"response {response.hex()}\n")


def _show(answer: RawAnswer, output: Output) -> None:
    from kwire.codec.json_form import to_json
    from kwire.error_codes import ErrorCode
    from kwire.messages.registry import api_name

    response = None
    if answer.response is not None:
        fallen_back = getattr(answer.response, "error_code", 0) == ErrorCode.UNSUPPORTED_VERSION
        is_versions = type(answer.response).__name__ == "ApiVersionsResponse"
        # A node that lacks the version of an ApiVersions answers in version 0 (KIP-511).
        written = 0 if is_versions and fallen_back else answer.version
        response = to_json(answer.response, written)
    errors = [
        {"path": path, "code": code, "error": _error_name(code)}
        for path, code in _error_codes(response)
    ]
    output.failed = bool(errors)
    key = type(answer.request).key
    assert key is not None
    document = {
        "api": api_name(key),
        "apiKey": key,
        "version": answer.version,
        "peer": answer.peer,
        "response": response,
        "errors": errors,
    }
    output.show_document(document, lambda: print_json(response))
    if not output.is_document:
        for error in errors:
            output.warn(f"{error['path']} is {error['code']}, {error['error']}")


def _error_name(code: int) -> str:
    from kwire.error_codes import name

    return name(code)


def _error_codes(value: Any, path: str = "") -> Iterator[tuple[str, int]]:
    """Yield where a response has an error code other than 0."""
    if isinstance(value, dict):
        for name, member in value.items():
            where = f"{path}.{name}" if path else name
            if name.lower().endswith("errorcode") and isinstance(member, int) and member:
                yield where, member
            else:
                yield from _error_codes(member, where)
    elif isinstance(value, list):
        for index, element in enumerate(value):
            yield from _error_codes(element, f"{path}[{index}]")
