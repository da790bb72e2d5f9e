"""Configurations of topics, groups, client metrics and nodes, by the rules of Kafka's ConfigDefs.

`*_keys.py` are generated from Kafka's jars (`python -m config_keys`); `topics`, `groups` and
`client_metrics` hold what Kafka checks in code besides.
"""
