"""Options shared by commands, the Python API and study files, each declared once."""
