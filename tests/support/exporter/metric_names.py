"""Names and labels of metrics: those that a collector serves, and those that a guide lists."""

import re
from pathlib import Path

from kwire.exporter.collector import ExporterCollector

Families = dict[str, tuple[str, ...]]
"""The labels by the name of the metric as Prometheus queries it."""


def served_families(collector: ExporterCollector) -> Families:
    """Return the metrics of a collector."""
    suffixes = {"counter": "_total", "gauge": ""}
    return {
        family.name + suffixes[family.type]: tuple(vars(family)["_labelnames"])
        for family in collector.collect()
    }


def metric_table(page: Path) -> Families:
    """Return the metrics in the tables of a page: `name` (`label`, `label`) at a row's begin."""
    rows = re.findall(r"^\| `(kafka_\w+)`(?: \(([^)]*)\))? \|", page.read_text(), re.M)
    return {name: tuple(re.findall(r"`(\w+)`", labels)) for name, labels in rows}
