"""`kwire controller`: KRaft controllers of kwire's own."""
