"""The tables, made of decoded frames or of the records of a log: functions of DataFrames."""
