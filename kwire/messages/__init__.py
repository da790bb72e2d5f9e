"""Message declarations: one module an API, `a<key>_<name>`; records and formats."""
