"""What topics, groups, client metrics and nodes may be configured with, as Kafka's ConfigDefs say.

`*_keys.py` are generated from Kafka's jars (`python -m config_keys`); `topics`, `groups` and
`client_metrics` hold what Kafka checks in code besides.
"""
