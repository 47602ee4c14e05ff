"""Clients for models, and wrappers around them."""
