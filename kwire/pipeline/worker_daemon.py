"""The daemon that Spark starts Python workers from, on one machine: `pyspark.daemon`, made ready.

1. It has kwire's code before it forks: a worker would spend most of a second on importing it.
2. What was imported is frozen: `pyspark.daemon` collects garbage after every task.
3. It forgets the archives that were searched for modules, and looks for none in Spark's own jar:
   `pyspark.worker` reads the directories of all of them anew before every task.

Without 2. and 3. a task costs 0.14 s of CPU more than its work. The executors of a cluster get
kwire's code with the job, and their daemons have started before that.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from zipimport import zipimporter

import kwire.pipeline.ingest  # noqa: F401 - 1.


def main() -> None:
    """Fork workers until Spark ends."""
    from pyspark.daemon import manager  # POSIX only; Spark has no daemon elsewhere

    # 2.
    gc.collect()
    gc.freeze()
    # 3.
    sys.path[:] = [path for path in sys.path if not path.endswith(".jar")]
    for path, finder in list(sys.path_importer_cache.items()):
        if isinstance(finder, zipimporter):
            del sys.path_importer_cache[path]
    fork_workers: Callable[[], None] = manager
    fork_workers()


if __name__ == "__main__":
    main()
