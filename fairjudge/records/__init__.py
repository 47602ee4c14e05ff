"""Run folders, in files or PostgreSQL: rows, manifests, signatures, results as JSON."""
