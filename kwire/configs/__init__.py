"""Configuration keys: of topics, groups, client metrics and nodes, as Kafka's ConfigDefs have them.

`*_keys.py` are generated from Kafka's jars (`python -m config_keys`); `*_validation.py` have the
checks that Kafka makes in code besides.
"""
