"""Sentences, chunks, tokens and atomic units: plain text functions."""
