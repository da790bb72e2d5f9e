"""Makes the rows of the tables in tasks, and writes them where they stay (docs/decisions/0088)."""
