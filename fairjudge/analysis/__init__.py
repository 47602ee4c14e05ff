"""Analyses shared by commands and the Python interface: reading of inputs, and their results."""
