"""`kwire protocol`: the messages of Kafka's protocol, and what changed between releases."""
