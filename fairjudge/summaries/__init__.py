"""Summaries written by an LLM."""
