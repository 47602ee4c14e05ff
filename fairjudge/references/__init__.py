"""Building references: questions that sources answer differently."""
