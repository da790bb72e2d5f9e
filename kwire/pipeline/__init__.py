"""Tables on Spark: captures and metadata logs as rows, and analyses of them.

docs/debuggers/pipeline.md describes them.

Nothing here imports PySpark: it is an extra, and `kwire.pipeline.installed` says what to install.
"""
