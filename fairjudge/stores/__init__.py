"""What several machines share, in PostgreSQL: replies, checkpoints and the rows of runs."""
