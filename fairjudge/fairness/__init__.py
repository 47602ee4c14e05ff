"""Fairness of summaries over social attributes of their sources."""
