"""The document of a run against a client: the same as a server's, with the client in its place."""

from __future__ import annotations

from collections import Counter

from kwire import __version__
from kwire.conform.clients.suite import ClientRun
from kwire.conform.report.document import RunDocument, ServerPart, check_part
from kwire.conform.vocabulary import ConformanceVerdict
from kwire.messages.registry import api_name


def client_document(run: ClientRun, command: str, *, name: str, started: float) -> RunDocument:
    """Return the document of a run. command: of the client. started: s since 1970."""
    cases = {case.id: case for case in run.cases}
    # A task without faults that no id asked for is still the reason of what was skipped.
    results = [result for result in run.results.values() if result.id in cases]
    order = {case_id: place for place, case_id in enumerate(cases)}
    results.sort(key=lambda result: order[result.id])
    counts = Counter(result.verdict for result in results)
    return RunDocument(
        name=name or command,
        kwire=__version__,
        server=ServerPart(
            address=command,
            role="client",
            security="",
            cluster_id=None,
            nodes={},
            voters=(),
            api_versions={
                api_name(key): versions for key, versions in sorted(run.api_versions.items())
            },
        ),
        started_ms=int(started * 1000),
        seconds=round(run.seconds, 3),
        problem=run.problem,
        suspects=(),
        counts={verdict.value: counts[verdict] for verdict in ConformanceVerdict},
        checks=tuple(check_part(result, cases[result.id]) for result in results),
    )
