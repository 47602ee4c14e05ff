"""Alignment of a judge with human labels: candidate prompts, their selection, a held-out test."""
