"""`kwire capture query`: answers in SQL, in seconds and without Spark."""

from __future__ import annotations

import json
import sys
from itertools import chain, count, islice
from typing import TYPE_CHECKING, Any

import typer

from kwire.cli.capture.files import print_warning
from kwire.cli.errors import WrongUsage
from kwire.cli.options import argument, flag, option, reads_options
from kwire.text.json_numbers import json_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kwire.pipeline.capture_rows import CaptureRows

NEEDED = {"duckdb", "pyarrow", "numpy", "fsspec", "dpkt"}


@reads_options
def query(
    captures: list[str] = argument(
        default=[], metavar="FILE...", help="Captures, packets (.pcap, .pcapng), folders of them."
    ),
    sql: str = argument(metavar="QUERY", help="In DuckDB's SQL."),
    *,
    top: int = option(default=100, min=1, metavar="N", help="Rows that a table on a screen shows."),
    as_json: bool = flag("--json", help="Print a JSON object a row, a line each."),
) -> None:
    """Ask captures in SQL, without tables and Spark. Needs `pip install 'kwire[query]'`.

    The rows are those of kwire pipeline ingest. "describe calls" lists the columns of a table.
    calls: an RPC a row. at, node_id, client, client_id, api, api_version, outcome, latency_ms,
    max_wait_ms (of a fetch, which may wait), request_size, response_size, topics, error, errors.
    frames: a request, response or notice a row. kind, status, error, size, copied, notice, text.
    messages: a decoded message a row. body (JSON), fetch_request, vote_response, …
    quorum: elections, fetches and changes of the metadata quorum. what, epoch, leader_id, lag.
    verdicts: a check a row. check, passed, detail.
    DuckDB reserves the names at, check, end and offset: calls.at, or quoted.
    Damage goes to stderr, with exit code 1.

    \b
    kwire capture query night.avro "select calls.at, client_id, node_id, latency_ms, topics
      from calls where api = 'Fetch' order by latency_ms desc limit 10"
    kwire capture query captures/ "select api, client_id, error, count(*) from calls
      where error is not null group by all order by 4 desc"
    kwire capture query night.avro "select client_id, api, min(api_version),
      max(api_version), count(*) from calls group by all order by 1, 2"
    kwire capture query night.avro --json "select body->>'$.transactional_id' as id, count(*)
      from messages where api = 'InitProducerId' and kind = 'REQUEST' group by all"
    """
    from kwire.cli.screen import screen
    from kwire.extras import importing_any

    if not captures:
        raise WrongUsage("give captures, and behind them a query in quotes.")
    if "-" in captures:
        raise WrongUsage("a query may read its files twice: kwire capture import - makes one.")
    with importing_any(NEEDED, "query", "kwire capture query needs DuckDB and pyarrow"):
        from kwire.pipeline.capture_rows import CaptureRows, capture_files
        from kwire.pipeline.query import open_query
    files = capture_files(captures)
    with open_query(sql) as asked:
        with screen(stderr=True).status("reading") as status:
            capture = CaptureRows(files, asked.tables, lambda share: status.update(f"{share:.0%}"))
            asked.read(capture)
        _print(*asked.answer(), top=top, as_json=as_json)
    _print_unread(capture)


def _print(names: list[str], rows: Iterable[Sequence[Any]], *, top: int, as_json: bool) -> None:
    from kwire.cli.pipeline.rows import plain, print_table
    from kwire.cli.screen import screen

    if as_json:
        keys = _distinct(names)
        for row in rows:
            line = dict(zip(keys, map(plain, row), strict=True))
            sys.stdout.write(json.dumps(json_numbers(line)) + "\n")
    else:
        print_table(screen(), names, list(islice(rows, top + 1)), top)


def _distinct(names: list[str]) -> list[str]:
    """Return names for an object: of two columns `at`, the second is `at_1`, as in DuckDB."""
    found: list[str] = []
    for name in names:
        tried = (f"{name}_{number}" for number in count(1))
        found.append(next(one for one in chain([name], tried) if one not in found))
    return found


def _print_unread(capture: CaptureRows) -> None:
    """Print on stderr what could not be read. Raises Exit with 1 if bytes are lost."""
    without = capture.statuses.total() - capture.statuses["DECODED"]
    sentences = [*capture.damages, *capture.gaps()]
    if without:
        counts = ", ".join(f"{n:,} {name}" for name, n in sorted(capture.statuses.items()))
        sentences.append(f"{without:,} frames have no content that can be read: {counts}")
    for sentence in sentences:
        print_warning(sentence)
    if capture.damages:
        raise typer.Exit(1)
