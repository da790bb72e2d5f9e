-- A Wireshark dissector of Apache Kafka's protocol: every API, with controllers' traffic.
-- Written by `kwire dissector`; do not edit. Needs Wireshark 4.0 or later.
-- wireshark -X lua_script:kafka.lua FILE, or put it into the folder of personal Lua plugins.

