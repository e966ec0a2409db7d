"""From evidence to a report: outline, sections, methodology, sources."""
