"""The tables on disk: Delta tables of Parquet files, and the ledger that says what is in them.

docs/decisions/0088-ledger.md has the order of writes, and why.
"""
