"""One research unit: search, rank over all queries, read the best, ask what next."""
