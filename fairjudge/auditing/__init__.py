"""Audits of judges: order, length, consistency, stability."""
