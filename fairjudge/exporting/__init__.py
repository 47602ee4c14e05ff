"""Judgements, references and summaries in the formats of other tools."""
