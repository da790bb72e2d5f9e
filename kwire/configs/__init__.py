"""Configurations of topics, groups, client metrics and nodes, by the rules of Kafka's ConfigDefs.

`*_keys.py` are generated from Kafka's jars (`python -m config_keys`); `*_validation.py` have the
checks that Kafka makes in code besides.
"""
