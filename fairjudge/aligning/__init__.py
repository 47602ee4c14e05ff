"""Alignment of a judge with people: candidates, their choice, the sealed test."""
