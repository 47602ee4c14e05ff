"""What commands and the Python interface compute from records: readings of files, and figures."""
