"""Calibration of judges against human labels; depends only on numpy and scipy."""
