"""What Spark says when a job fails, as one sentence: kwire's own, where a worker raised one."""

from __future__ import annotations

import re

from pyspark.errors import PySparkException

_OWN = re.compile(r"^(?:kwire|proxy|pipeline)[\w.]*\.(?:\w+): (.+)$", re.MULTILINE)
_PYTHON = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception): (.+)$", re.MULTILINE)


def sentence(error: PySparkException) -> str:
    """The reason, without the traces of two languages around it."""
    text = str(error)
    for pattern in (_OWN, _PYTHON):
        if found := pattern.findall(text):
            return str(found[-1])
    return text.strip().partition("\n")[0]
