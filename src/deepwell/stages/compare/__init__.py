"""Two runs are compared by what they claim."""
