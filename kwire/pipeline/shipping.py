"""Sends kwire's code to the executors of a cluster with the job, native engine included.

The whole package `kwire` is an archive that Spark unpacks as `kwire` into the folder of its files,
which is the first on a Python worker's path: no executor runs another version than the driver. The
libraries that kwire needs have to be there (docs/pipeline.md).
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path

from pyspark import SparkContext

import kwire


def ship(context: SparkContext) -> None:
    """Send the code of this environment to every executor.

    Executors that start later fetch it, too: the archive stays until this process ends.
    """
    folder = tempfile.mkdtemp(prefix="kwire-code-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    context.addArchive(f"{archive(Path(folder))}#kwire")


def archive(folder: Path) -> Path:
    """Write a zip of the package's files, without compiled bytecode; return its path."""
    copy = folder / "kwire"
    package = Path(kwire.__file__).parent
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return Path(shutil.make_archive(str(copy), "zip", copy))
