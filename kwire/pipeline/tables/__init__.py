"""Each table, made of decoded frames or of the records of a log; a module each, pure."""
