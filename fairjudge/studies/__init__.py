"""A whole study in one file: its steps as a small graph, each run once and kept in a record."""
