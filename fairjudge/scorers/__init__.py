"""Local models that score pairs of texts; torch lives here."""
