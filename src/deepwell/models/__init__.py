"""Chat models of any provider: by name, probed once, asked within a budget, and never trusted to answer well."""
