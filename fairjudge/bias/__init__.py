"""Demographic bias in summaries and in judges' inputs."""
