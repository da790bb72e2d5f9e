"""`kwire conform --hex ID`: the bytes of one check in both directions, and how to resend them."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import typer

from kwire.cli.conform.run import RunUnderWay, run_with_progress
from kwire.cli.flows.frame_screen import RequestIds, dump, show_frame
from kwire.cli.output import Output, OutputForm
from kwire.conform.registry import check_of
from kwire.conform.report.document import BytesPart, CheckPart, check_part
from kwire.conform.report.text import reaction_text
from kwire.conform.suite import SuiteOptions
from kwire.errors import InvalidValue
from kwire.messages.registry import api_name
from kwire.net.address import Address
from kwire.text.untrusted import harmless


def show(address: Address, options: SuiteOptions, check_id: str, *, as_json: bool) -> None:
    """Run one check and print its bytes. Exit code 1 for FAIL and DIED. Raises InvalidValue."""
    check = check_of(check_id)
    run = run_with_progress(address, options, RunUnderWay())
    result = next((result for result in run if result.id == check.id), run.results[0])
    whole = check_part(result, check)
    chosen = chosen_member(whole, check_id)
    part = msgspec.structs.replace(chosen, sentence=whole.sentence, source=whole.source)
    show_part(part, as_json=as_json)


def show_part(part: CheckPart, *, as_json: bool, requests_come: bool = False) -> None:
    """Print the bytes of a check, or of a case, whose requests come. Exit code 1 for FAIL, DIED."""
    if as_json:
        Output(OutputForm.JSON).print_document(msgspec.to_builtins(part))
    else:
        typer.echo(f"{part.id}  {part.sentence}\n{part.source}\n{part.address}")
        typer.echo(harmless(reaction_text(part)))
        show_chunks(part.bytes, requests_come=requests_come)
    if part.verdict.is_bad:
        raise typer.Exit(1)


def chosen_member(part: CheckPart, check_id: str) -> CheckPart:
    """Return the member of a family that the id names, else the first of the worst."""
    if not part.members:
        return part
    if check_id == part.id:
        return part.worst
    for member in part.members:
        if member.id == check_id:
            return member
    raise InvalidValue(f"the server offers no {check_id}")


def show_chunks(chunks: tuple[BytesPart, ...], *, requests_come: bool = False) -> None:
    """Print bytes of both directions, decoded, with the commands that send or decode them again.

    requests_come: they are a client's, which kwire answers.
    """
    requests: RequestIds = {}
    for chunk in chunks:
        if chunk.probe:
            continue  # its result is the state of the connection, which stands above
        if chunk.silent:
            typer.echo(f"\nnothing from {harmless(chunk.peer)} within {chunk.silent:.3g} s")
            continue
        data = bytes.fromhex(chunk.hex)
        way = f"to {harmless(chunk.peer)}" if chunk.sent else f"from {harmless(chunk.peer)}"
        typer.echo(f"\n{typer.style(f'{chunk.size} bytes {way}', bold=True)}")
        for line in dump(data, hint=": --json has them all"):
            typer.echo(line)
        if chunk.size > len(data):
            typer.echo(f"{chunk.size - len(data)} bytes that are not kept")
            continue
        show_frame(data, requests, sent=chunk.sent is not requests_come)
        for line in () if requests_come else _again(chunk, requests):
            typer.echo(f"  {line}")


def _again(chunk: BytesPart, requests: RequestIds) -> Iterator[str]:
    """Yield the commands that send bytes again, or decode them again."""
    if chunk.sent:
        yield f"{typer.style('again:', dim=True)} kwire request --raw {chunk.hex} {chunk.peer}"
    elif answered := requests.get(int(chunk.hex[8:16] or "0", 16)):
        request = f"{api_name(answered[0])}:{answered[1]}"
        shell = f"kwire decode --response-to {request} {chunk.hex}"
        yield f"{typer.style('again:', dim=True)} {shell}"
