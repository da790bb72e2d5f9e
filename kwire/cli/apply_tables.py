"""The tables of `kwire apply`: its plan, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from kwire.admin.errors import OutcomeUnknown
from kwire.cli.output import ERROR, Column, Output, Table, error_name, text_columns
from kwire.cli.wording import command_words
from kwire.cluster_document.apply_plan import ApplyPlan
from kwire.cluster_document.apply_run import StepErrors, StepResult, step_results
from kwire.cluster_document.apply_step import NotApplied
from kwire.cluster_document.comparison import Difference
from kwire.cluster_document.document import DocumentSection
from kwire.cluster_document.document_words import RESOURCE_NUMBERS
from kwire.configs.hidden_values import is_hidden
from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError, ConnectionFailed, KwireError
from kwire.messages.config_resource import ConfigResource, ResourceType
from kwire.text.phrases import count

HIDDEN_VALUE = "(hidden)"

AGAIN = "call kwire apply again"
MENDED = f"mend that, then {AGAIN}"

WAYS_ON: Mapping[int, str] = MappingProxyType(
    {
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "give the principal ALTER on the cluster",
        ErrorCode.TOPIC_AUTHORIZATION_FAILED: "give the principal CREATE or ALTER on the topic",
        ErrorCode.SECURITY_DISABLED: "set authorizer.class.name on all nodes, or leave acls out",
        ErrorCode.INVALID_REPLICATION_FACTOR: "start brokers, see kwire brokers list, or write"
        " fewer",
        ErrorCode.INVALID_REPLICA_ASSIGNMENT: "name brokers that there are, or leave assignments"
        " out",
        ErrorCode.INVALID_CONFIG: "mend the value in the document",
        ErrorCode.POLICY_VIOLATION: "mend the document, or the policy of the controllers",
        ErrorCode.INVALID_REQUEST: "mend the entry in the document",
        ErrorCode.INVALID_TOPIC_EXCEPTION: "mend the name in the document",
        ErrorCode.INVALID_PARTITIONS: "mend the number in the document",
        ErrorCode.BROKER_ID_NOT_REGISTERED: "start the broker, or leave its configs out",
    }
)
"""The way on after a refusal, by its code, where the node's message does not name it."""


def show_plan(plan: ApplyPlan, cluster_id: str | None, output: Output) -> None:
    """Print the differences of a plan, and what becomes of each."""
    rows = [
        {**_difference(difference), "state": "planned"}
        for step in plan.steps
        for difference in step.differences
    ]
    rows += map(_not_applied, plan.not_applied)
    table = _table(rows, _facts(plan, plan, cluster_id, output))
    output.show(table, empty="nothing to change: the cluster has all of the document")


def show_results(
    plan: ApplyPlan,
    left: ApplyPlan | None,
    errors: StepErrors,
    cluster_id: str | None,
    output: Output,
) -> None:
    """Print what became of each difference. left: the plan afterwards, None if it is not known."""
    results = step_results(plan, left, errors)
    rows = [row for result in results for row in _result(result, verified=left is not None)]
    rows += map(_not_applied, (left or plan).not_applied)
    output.show(_table(rows, _facts(plan, left, cluster_id, output)))
    there = sum(result.is_there for result in results)
    if left is not None and not left.differs:
        output.say(f"{count(there, 'change')} made; the cluster has all of the document")
    else:
        output.say(
            f"{there} of {count(len(results), 'change')} made; afterwards {AGAIN}: it does the rest"
        )
    say_left_alone(left or plan, output)


def say_left_alone(plan: ApplyPlan, output: Output) -> None:
    """Say how much the cluster has that the document does not, and what it does not show."""
    if plan.not_compared:
        output.say(
            "not compared, since the cluster does not show it, and left as it is:"
            f" {', '.join(plan.not_compared)}"
        )
    if plan.not_managed:
        counts = ", ".join(f"{count} in {what}" for what, count in plan.not_managed.items())
        output.say(f"not in the document, left alone: {counts}")


def _table(rows: list[dict[str, Any]], facts: dict[str, Any]) -> Table:
    """Return the table of differences, as of `kwire diff`, with what becomes of each."""
    columns = (
        *text_columns("change", "section", "name", "field", "old", "new", "state"),
        ERROR,
        Column(key="reason", wide=not any(row["reason"] for row in rows)),
    )
    return Table("changes", columns, rows, key="name", facts=facts)


def _facts(
    plan: ApplyPlan, left: ApplyPlan | None, cluster_id: str | None, output: Output
) -> dict[str, Any]:
    if not output.is_document:
        return {}
    return {
        "clusterId": cluster_id,
        "equal": left is not None and not left.differs,
        "sections": list(plan.sections),
        "notManaged": dict(plan.not_managed),
        "notCompared": list(plan.not_compared),
    }


def _difference(difference: Difference) -> dict[str, Any]:
    return {
        "change": difference.change.value,
        "section": difference.section.value,
        "name": difference.name,
        "field": difference.field or None,
        "old": _shown(difference, difference.old),
        "new": _shown(difference, difference.new),
        "error": None,
        "reason": None,
    }


def _shown(difference: Difference, value: object) -> object:
    """Return a value without the passwords that a person may have written into a document."""
    if isinstance(value, Mapping):
        return {key: _without_password(difference, key, value[key]) for key in value}
    return _without_password(difference, difference.field, value)


def _without_password(difference: Difference, field: str, value: object) -> object:
    if value is None or difference.section not in (DocumentSection.TOPICS, DocumentSection.CONFIGS):
        return value
    word = difference.name.partition(" ")[0]
    is_topic = difference.section is DocumentSection.TOPICS
    type = ResourceType.TOPIC if is_topic else RESOURCE_NUMBERS.get(word, ResourceType.BROKER)
    resource = ConfigResource(type, "")
    return HIDDEN_VALUE if is_hidden(resource, field.removeprefix("configs.")) else value


def _not_applied(rest: NotApplied) -> dict[str, Any]:
    return {
        **_difference(rest.difference),
        "state": "left",
        "reason": command_words(rest.reason),
    }


def _result(result: StepResult, *, verified: bool) -> Iterator[dict[str, Any]]:
    error = None if result.is_there else result.error
    state, reason = _state(result, verified=verified)
    for difference in result.step.differences:
        yield {
            **_difference(difference),
            "state": state,
            "error": None if error is None else error_name(error),
            "reason": reason,
        }


def _state(result: StepResult, *, verified: bool) -> tuple[str, str | None]:
    if result.is_there:
        is_ours = result.error is None or isinstance(result.error, OutcomeUnknown)
        return ("applied", None) if is_ours else ("there", "somebody else made it")
    if result.error is not None:
        return "failed", _failure(result.error)
    if result.is_new:
        return "differs", f"it changed meanwhile: {AGAIN}"
    if not result.is_tried:
        return "not tried", f"the cluster could not be asked any more: {AGAIN}"
    if not verified:
        return "not verified", f"the cluster took it, and was not read again: {AGAIN}"
    return "differs", f"the cluster took it, and does not show it yet: {AGAIN}"


def _failure(error: KwireError) -> str:
    sentence = command_words(str(getattr(error, "explanation", None) or error))
    if isinstance(error, BrokerError):
        way_on = AGAIN if error.retriable else MENDED
        return f"{sentence.rstrip('.')}; {WAYS_ON.get(error.code, way_on)}"
    return f"{sentence}; {AGAIN}" if isinstance(error, ConnectionFailed) else sentence
