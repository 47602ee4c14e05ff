"""Judges: a verdict on a summary, from an LLM or from a local model."""
