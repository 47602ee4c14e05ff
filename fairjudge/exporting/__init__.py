"""Export of judgements, references and summaries to the formats of other tools."""
