"""Tests of clients by recordings, as text of Python: written once, then kept by their readers."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from kwire.capture.editing import write_events
from kwire.proxy.capture.records import event_records
from kwire.proxy.flows.flow import Flow
from kwire.text.ids import uuid_text

_TEST = '''"""{subject}."""

from pathlib import Path

from kwire.testing import Recording

CAPTURE = Path(__file__).with_suffix(".avro")
{constants}

def {name}({parameter}) -> None:
    with Recording(CAPTURE) as recording:
        recording.run({command}, timeout={timeout:g})
        recording.{check}
'''


def write_test(
    flows: Sequence[Flow], path: Path, *, command: str | None, fault: str, timeout: float
) -> None:
    """Write a test, and beside it the capture that it reads.

    command: of the client, with `{bootstrap}`; None if the fixture `kwire_client` has it. fault: by
    which the client is not to fail; empty if it has to do as recorded. Secrets in the flows are
    masked. Raises OSError.
    """
    capture, recording = path.with_suffix(".avro"), uuid_text(uuid4())
    write_events(
        (list(event_records(flow, number, recording)) for number, flow in enumerate(flows)), capture
    )
    day = datetime.fromtimestamp(flows[0].at, UTC).date()
    count = "1 request" if len(flows) == 1 else f"{len(flows)} requests"
    constants = [("CLIENT", command), ("FAULT", fault)]
    text = _TEST.format(
        subject=f"A client against {count} of {day} in {capture.name}",
        constants="".join(f"{name} = {_literal(value)}\n" for name, value in constants if value),
        name=re.sub(r"\W", "_", path.stem),
        parameter="" if command else "kwire_client: str",
        command="CLIENT" if command else "kwire_client",
        timeout=timeout,
        check="check_fault(FAULT)" if fault else "check()",
    )
    path.write_text(text, encoding="utf-8")


def _literal(text: str) -> str:
    """Return a literal of Python, with the quotes that ruff and black would choose."""
    quote = "'" if text.count('"') > text.count("'") else '"'
    body = json.dumps(text, ensure_ascii=False)[1:-1].replace('\\"', '"')
    return f"{quote}{body.replace(quote, chr(92) + quote)}{quote}"
