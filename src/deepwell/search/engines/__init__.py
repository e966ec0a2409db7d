"""One file an engine: what is sent, and how the answer becomes hits. Everything else they share."""
