"""`kwire proxy --config FILE --check`: what makes a configuration less safe, and what to do."""

from __future__ import annotations

import logging
from pathlib import Path

import typer

from kwire.cli.errors import WrongUsage
from kwire.cli.findings import findings_table, show_findings
from kwire.cli.output import Output, OutputForm
from kwire.errors import InvalidValue


def check_file(file: Path, *, as_json: bool) -> None:
    """Print the weaknesses of a file.

    Raises WrongUsage for a file that is no configuration, and Exit with 1 if there is a problem.
    """
    from kwire import permissions
    from kwire.doctor.proxy_config.examine import examine
    from kwire.proxy.service.config import parse_config

    # The findings say what it would warn of.
    warnings = logging.getLogger(permissions.__name__)
    warnings.disabled = True
    try:
        weaknesses = examine(parse_config(file), file)
    except InvalidValue as error:
        raise WrongUsage(str(error)) from error
    finally:
        warnings.disabled = False
    findings = [weakness.finding for weakness in weaknesses]
    keys = [weakness.key for weakness in weaknesses]
    output = Output(OutputForm.JSON if as_json else OutputForm.TABLE)
    show_findings(output, findings_table(findings, {"file": str(file)}, keys), findings)
    if output.failed:
        raise typer.Exit(1)
