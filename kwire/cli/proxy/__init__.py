"""`kwire proxy`: its options, its run, its rules, and what it prints."""
