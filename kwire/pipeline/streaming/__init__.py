"""Tables of captures that are still growing, on Spark's structured streaming."""
