"""The tables: of decoded frames, functions of Arrow batches; of logs, of DataFrames."""
