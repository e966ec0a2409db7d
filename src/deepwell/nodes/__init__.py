"""The nodes of the graph: each unpacks the state, calls stage functions and packs the result."""
