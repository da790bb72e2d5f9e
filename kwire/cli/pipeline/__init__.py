"""`kwire pipeline`: tables of captures and of metadata logs, on Spark."""
