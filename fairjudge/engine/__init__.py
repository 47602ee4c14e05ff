"""Engines of runs: models, run folders, checkpoints, work in this process."""
