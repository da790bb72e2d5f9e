"""Traces as pages: each opens in a browser, without kwire, a server or a network.

1. `collected` takes the events of captures, and keeps the flows that a page has room for.
2. `marks` finds what belongs on a time axis: elections, voters, in-sync replicas, assignments.
3. `caused` finds the changes in a metadata log that requests caused.
4. `schemas` declares the used messages for the page's own decoder.
5. `document` makes columns of all that, and `page` one HTML file; `mermaid` a sequence diagram.
"""
