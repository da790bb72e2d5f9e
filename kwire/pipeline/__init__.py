"""Captures and metadata logs become tables on Spark, and answers read off them (docs/pipeline.md).

Nothing here imports PySpark: it is an extra, and `kwire.pipeline.installed` says what to install.
"""
