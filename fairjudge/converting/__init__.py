"""Data in other layouts, turned to our records."""
