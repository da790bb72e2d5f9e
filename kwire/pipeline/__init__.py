"""Tables of captures and metadata logs on Spark, and analyses of them (docs/pipeline.md).

Nothing here imports PySpark: it is an extra, and `kwire.pipeline.installed` says what to install.
"""
