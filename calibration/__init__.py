"""Calibrating judges against people: numpy and scipy only."""
