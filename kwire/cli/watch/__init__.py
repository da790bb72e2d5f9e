"""`kwire watch`: the traffic of a proxy, as lines, on a screen or in a browser."""
